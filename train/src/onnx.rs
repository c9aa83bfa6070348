//! Transformers as ONNX models, which other programs run without Azimuth: the graph of a transformer,
//! and the messages of the format that it needs.

use std::path::Path;

use anyhow::{Result, ensure};
use azimuth_chess::tokens;
use azimuth_cli::say;
use azimuth_network::Architecture;
use azimuth_network::fused::LAYER_NORM_EPSILON;
use azimuth_network::normalize::SMALLEST_SQUARE;
use azimuth_network::replace_file::replace_file;
use azimuth_network::transformer::{LENGTH, TransformerConfig};
use azimuth_network::weights::Weights;
use prost::Message;
use serde_json::json;

/// Version of the file format, of the same release of ONNX as [`OPERATORS`].
const FORMAT: i64 = 8;

/// Version of the operators: the first with layer normalisation.
const OPERATORS: i64 = 17;

/// No protobuf message is larger, in bytes.
const LARGEST: usize = i32::MAX as usize;

const DESCRIPTION: &str = "Chess positions as unit vectors. Input: the 77 tokens of each position \
    (tokeniser chessbench-77), int64. Outputs: the embeddings, and their cosines with the axis, \
    from -1 (lost for White) to 1 (won for White). The metadata entry 'calibration' maps cosines to \
    White's win probability: linear between its knots.";

/// Writes the transformer of `weights` to `out` (`.onnx`).
pub fn export(weights: &Weights, out: &Path) -> Result<()> {
    let Architecture::Transformer(config) = &weights.metadata.architecture else {
        anyhow::bail!(
            "--format onnx: only transformers have a form in ONNX, and these weights are a sparse \
             encoder"
        );
    };
    let is_onnx = out.extension().is_some_and(|extension| extension == "onnx");
    ensure!(is_onnx, "--out '{}': the name must end in .onnx", out.display());
    let knots = json!({
        "cosine": weights.calibration.cosines(),
        "win_probability": weights.calibration.win_probabilities(),
    });
    let entry = |key: &str, value: String| Entry { key: key.to_owned(), value };
    let model = Model {
        ir_version: FORMAT,
        opset_import: vec![OperatorSet { version: OPERATORS }],
        producer_name: "azimuth-train".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        doc_string: DESCRIPTION.to_owned(),
        graph: Some(graph(weights, config)?),
        metadata_props: vec![
            entry("azimuth", serde_json::to_string(&weights.metadata)?),
            entry("calibration", knots.to_string()),
        ],
    };
    ensure!(model.encoded_len() <= LARGEST, "--format onnx: the model is larger than 2 GiB");
    replace_file(out, &model.encode_to_vec())?;
    say(format_args!("wrote '{}'", out.display()));
    Ok(())
}

fn graph(weights: &Weights, config: &TransformerConfig) -> Result<Graph> {
    let mut network = Network { graph: Graph::default(), weights };
    network.constants(config);
    let mut x = network.embed("tokens", config)?;
    for layer in 0..config.layers {
        x = network.layer(&format!("transformer.layers.{layer}"), &x)?;
    }
    let first = network.graph.integer("first", 0);
    let axis = vec![integer_attribute("axis", 1)];
    let cls = network.graph.node_with("cls", "Gather", &[&x, &first], axis);
    let projected = network.linear("projection", &cls, "projection.weight", "projection.bias")?;
    network.unit("embedding", &projected);
    let (graph, axis) = (&mut network.graph, weights.axis.unit());
    let axis = graph.floats("axis", &[axis.len()], axis);
    graph.node("cosine", "MatMul", &["embedding", &axis]);
    let output =
        vec![rows("embedding", FLOAT, Some(config.embedding_dim)), rows("cosine", FLOAT, None)];
    let input = vec![rows("tokens", INT64, Some(tokens::LEN))];
    Ok(Graph { name: "encoder".to_owned(), input, output, ..network.graph })
}

/// The graph of an encoder with these weights. The layers are those of
/// [`azimuth_network::transformer`].
struct Network<'a> {
    graph: Graph,
    weights: &'a Weights,
}

impl Network<'_> {
    /// The constants that all layers share.
    fn constants(&mut self, config: &TransformerConfig) {
        let (hidden, heads) = (config.hidden as i64, config.heads as i64);
        let (length, head) = (LENGTH as i64, (config.hidden / config.heads) as i64);
        self.graph.integers("thirds", &[hidden; 3]);
        // 0 stands for the number of positions.
        self.graph.integers("by_head", &[0, length, heads, head]);
        self.graph.integers("joined", &[0, length, hidden]);
        self.graph.float("scale", (head as f32).powf(-0.5));
        self.graph.float("one", 1.0);
        self.graph.float("half", 0.5);
        self.graph.float("root", std::f32::consts::FRAC_1_SQRT_2);
    }

    /// A parameter as a constant with the same name.
    fn parameter(&mut self, name: &str) -> Result<String> {
        let tensor = self.weights.parameters.get(name)?;
        let values = tensor.flatten_all()?.to_vec1::<f32>()?;
        Ok(self.graph.floats(name, tensor.dims(), &values))
    }

    /// The product of `x` with a transposed weight matrix, plus a bias.
    fn linear(&mut self, name: &str, x: &str, weight: &str, bias: &str) -> Result<String> {
        let matrix = self.weights.parameters.get(weight)?.t()?;
        let values = matrix.contiguous()?.flatten_all()?.to_vec1::<f32>()?;
        let matrix = self.graph.floats(weight, matrix.dims(), &values);
        let product = self.graph.node(&format!("{name}.product"), "MatMul", &[x, &matrix]);
        let bias = self.parameter(bias)?;
        Ok(self.graph.node(name, "Add", &[&product, &bias]))
    }

    /// Token embedding plus positional encoding; CLS comes before the tokens.
    fn embed(&mut self, tokens: &str, config: &TransformerConfig) -> Result<String> {
        let get = |name: &str| self.weights.parameters.get(name);
        let cls = get("cls_token")?.reshape((1, config.hidden))?;
        let table = candle_core::Tensor::cat(&[&get("embedding.weight")?, &cls], 0)?;
        let values = table.flatten_all()?.to_vec1::<f32>()?;
        let table = self.graph.floats("table", table.dims(), &values);
        let before = self.graph.integers("before", &[0, 1, 0, 0]);
        let id = self.graph.integer("cls_id", i64::try_from(tokens::VOCABULARY)?);
        let ids = self.graph.node("ids", "Pad", &[tokens, &before, &id]);
        let rows = self.graph.node("rows", "Gather", &[&table, &ids]);
        let positional = self.parameter("positional_encoding")?;
        Ok(self.graph.node("embedded", "Add", &[&rows, &positional]))
    }

    fn layer(&mut self, layer: &str, x: &str) -> Result<String> {
        let name = |part: &str| format!("{layer}.{part}");
        let mixed = self.attention(&name("self_attn"), x)?;
        let [weight, bias] = ["self_attn.out_proj.weight", "self_attn.out_proj.bias"].map(name);
        let attended = self.linear(&name("attended"), &mixed, &weight, &bias)?;
        let normed = self.add_norm(&name("norm1"), x, &attended)?;
        let [weight, bias] = ["linear1.weight", "linear1.bias"].map(name);
        let wide = self.linear(&name("linear1"), &normed, &weight, &bias)?;
        let activated = self.gelu(&name("gelu"), &wide);
        let [weight, bias] = ["linear2.weight", "linear2.bias"].map(name);
        let narrowed = self.linear(&name("linear2"), &activated, &weight, &bias)?;
        self.add_norm(&name("norm2"), &normed, &narrowed)
    }

    /// Attention of all heads, before the output projection.
    fn attention(&mut self, layer: &str, x: &str) -> Result<String> {
        let name = |part: &str| format!("{layer}.{part}");
        let [weight, bias] = ["in_proj_weight", "in_proj_bias"].map(name);
        let packed = self.linear(&name("packed"), x, &weight, &bias)?;
        let graph = &mut self.graph;
        let inputs = [packed.as_str(), "thirds"];
        let last = vec![integer_attribute("axis", -1)];
        let [q, k, v] = graph.operation(["q", "k", "v"].map(name), "Split", &inputs, last);
        let mut heads = |part: &str, order: &[i64]| {
            let split = graph.node(&format!("{part}.split"), "Reshape", &[part, "by_head"]);
            let order = vec![integers_attribute("perm", order)];
            graph.node_with(&format!("{part}.heads"), "Transpose", &[&split], order)
        };
        let (q, k, v) =
            (heads(&q, &[0, 2, 1, 3]), heads(&k, &[0, 2, 3, 1]), heads(&v, &[0, 2, 1, 3]));
        let q = graph.node(&name("scaled"), "Mul", &[&q, "scale"]);
        let scores = graph.node(&name("scores"), "MatMul", &[&q, &k]);
        let last = vec![integer_attribute("axis", -1)];
        let weights = graph.node_with(&name("weights"), "Softmax", &[&scores], last);
        let mixed = graph.node(&name("mixed"), "MatMul", &[&weights, &v]);
        let order = vec![integers_attribute("perm", &[0, 2, 1, 3])];
        let mixed = graph.node_with(&name("mixed.turned"), "Transpose", &[&mixed], order);
        Ok(graph.node(&name("mixed.joined"), "Reshape", &[&mixed, "joined"]))
    }

    /// Layer normalisation of a sum.
    fn add_norm(&mut self, name: &str, x: &str, branch: &str) -> Result<String> {
        let sum = self.graph.node(&format!("{name}.sum"), "Add", &[x, branch]);
        let weight = self.parameter(&format!("{name}.weight"))?;
        let shift = self.parameter(&format!("{name}.bias"))?;
        let attributes =
            vec![integer_attribute("axis", -1), float_attribute("epsilon", LAYER_NORM_EPSILON)];
        let inputs = [sum.as_str(), &weight, &shift];
        Ok(self.graph.node_with(name, "LayerNormalization", &inputs, attributes))
    }

    /// GELU by the error function. ONNX's operator of this name is younger than [`OPERATORS`].
    fn gelu(&mut self, name: &str, x: &str) -> String {
        let mut node = |part: &str, op: &str, inputs: &[&str]| {
            self.graph.node(&format!("{name}{part}"), op, inputs)
        };
        let scaled = node(".scaled", "Mul", &[x, "root"]);
        let error = node(".erf", "Erf", &[&scaled]);
        let raised = node(".raised", "Add", &[&error, "one"]);
        let product = node(".product", "Mul", &[x, &raised]);
        node("", "Mul", &[&product, "half"])
    }

    /// Rows scaled to unit length.
    fn unit(&mut self, name: &str, x: &str) {
        let graph = &mut self.graph;
        let square = graph.node(&format!("{name}.square"), "Mul", &[x, x]);
        let last = graph.integers("last", &[-1]);
        let sum = graph.node(&format!("{name}.sum"), "ReduceSum", &[&square, &last]);
        let least = graph.float("least", SMALLEST_SQUARE);
        let sum = graph.node(&format!("{name}.raised"), "Add", &[&sum, &least]);
        let length = graph.node(&format!("{name}.length"), "Sqrt", &[&sum]);
        graph.node(name, "Div", &[x, &length]);
    }
}

/// Adds constants and operations. Values are identified by their names.
impl Graph {
    fn floats(&mut self, name: &str, dims: &[usize], values: &[f32]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, dims, FLOAT, bytes)
    }

    fn float(&mut self, name: &str, value: f32) -> String {
        self.floats(name, &[], &[value])
    }

    fn integers(&mut self, name: &str, values: &[i64]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, &[values.len()], INT64, bytes)
    }

    fn integer(&mut self, name: &str, value: i64) -> String {
        self.constant(name, &[], INT64, value.to_le_bytes().to_vec())
    }

    fn constant(&mut self, name: &str, dims: &[usize], data_type: i32, raw: Vec<u8>) -> String {
        let (dims, name) = (dims.iter().map(|&size| size as i64).collect(), name.to_owned());
        self.initializer.push(Tensor { dims, data_type, name: name.clone(), raw_data: raw });
        name
    }

    /// Adds an operation with one result, which is called `name`.
    fn node(&mut self, name: &str, op: &str, inputs: &[&str]) -> String {
        self.node_with(name, op, inputs, Vec::new())
    }

    fn node_with(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&str],
        attributes: Vec<Attribute>,
    ) -> String {
        let [name] = self.operation([name.to_owned()], op, inputs, attributes);
        name
    }

    /// Adds an operation, named like its first result, and returns the names of its results.
    fn operation<const N: usize>(
        &mut self,
        results: [String; N],
        op: &str,
        inputs: &[&str],
        attribute: Vec<Attribute>,
    ) -> [String; N] {
        self.node.push(Node {
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            name: results[0].clone(),
            output: results.to_vec(),
            op_type: op.to_owned(),
            attribute,
        });
        results
    }
}

fn integer_attribute(name: &str, value: i64) -> Attribute {
    Attribute { name: name.to_owned(), i: value, kind: 2, ..Attribute::default() }
}

fn float_attribute(name: &str, value: f32) -> Attribute {
    Attribute { name: name.to_owned(), f: value, kind: 1, ..Attribute::default() }
}

fn integers_attribute(name: &str, values: &[i64]) -> Attribute {
    Attribute { name: name.to_owned(), ints: values.to_vec(), kind: 7, ..Attribute::default() }
}

/// An input or output with a row for each position.
fn rows(name: &str, elem_type: i32, width: Option<usize>) -> ValueInfo {
    let batch = Dimension { dim_value: None, dim_param: Some("positions".to_owned()) };
    let size = |width| Dimension { dim_value: Some(width as i64), dim_param: None };
    let shape = Shape { dim: [batch].into_iter().chain(width.map(size)).collect() };
    let tensor_type = Some(TensorType { elem_type, shape: Some(shape) });
    ValueInfo { name: name.to_owned(), of_type: Some(Type { tensor_type }) }
}

/// [`Tensor::data_type`] and [`TensorType::elem_type`] of f32.
const FLOAT: i32 = 1;

/// The same for i64.
const INT64: i32 = 7;

#[derive(Clone, PartialEq, Message)]
struct Model {
    #[prost(int64, tag = "1")]
    ir_version: i64,
    #[prost(message, repeated, tag = "8")]
    opset_import: Vec<OperatorSet>,
    #[prost(string, tag = "2")]
    producer_name: String,
    #[prost(string, tag = "3")]
    producer_version: String,
    #[prost(string, tag = "6")]
    doc_string: String,
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
    #[prost(message, repeated, tag = "14")]
    metadata_props: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
struct OperatorSet {
    #[prost(int64, tag = "2")]
    version: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Entry {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, Message)]
struct Graph {
    #[prost(message, repeated, tag = "1")]
    node: Vec<Node>,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, repeated, tag = "5")]
    initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    output: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(string, repeated, tag = "1")]
    input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    output: Vec<String>,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(string, tag = "4")]
    op_type: String,
    #[prost(message, repeated, tag = "5")]
    attribute: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(float, tag = "2")]
    f: f32,
    #[prost(int64, tag = "3")]
    i: i64,
    #[prost(int64, repeated, tag = "8")]
    ints: Vec<i64>,
    /// 1 for a float, 2 for an integer, 7 for a list of integers.
    #[prost(int32, tag = "20")]
    kind: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(string, tag = "8")]
    name: String,
    /// Little-endian.
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct ValueInfo {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    of_type: Option<Type>,
}

#[derive(Clone, PartialEq, Message)]
struct Type {
    #[prost(message, optional, tag = "1")]
    tensor_type: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorType {
    #[prost(int32, tag = "1")]
    elem_type: i32,
    #[prost(message, optional, tag = "2")]
    shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
struct Shape {
    #[prost(message, repeated, tag = "1")]
    dim: Vec<Dimension>,
}

/// A size, or the name of a size that each call chooses.
#[derive(Clone, PartialEq, Message)]
struct Dimension {
    #[prost(int64, optional, tag = "1")]
    dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    dim_param: Option<String>,
}
