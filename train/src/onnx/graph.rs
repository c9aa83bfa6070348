//! The messages of ONNX's format that a transformer needs, and the construction of a graph.

use prost::Message;

/// Adds constants and operations. Values are identified by their names.
impl Graph {
    pub fn floats(&mut self, name: &str, dims: &[usize], values: &[f32]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, dims, FLOAT, bytes)
    }

    pub fn float(&mut self, name: &str, value: f32) -> String {
        self.floats(name, &[], &[value])
    }

    pub fn integers(&mut self, name: &str, values: &[i64]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, &[values.len()], INT64, bytes)
    }

    pub fn integer(&mut self, name: &str, value: i64) -> String {
        self.constant(name, &[], INT64, value.to_le_bytes().to_vec())
    }

    fn constant(&mut self, name: &str, dims: &[usize], data_type: i32, raw: Vec<u8>) -> String {
        let (dims, name) = (dims.iter().map(|&size| size as i64).collect(), name.to_owned());
        self.initializer.push(Tensor { dims, data_type, name: name.clone(), raw_data: raw });
        name
    }

    /// Adds an operation with one result, which is called `name`.
    pub fn node(&mut self, name: &str, op: &str, inputs: &[&str]) -> String {
        self.node_with(name, op, inputs, Vec::new())
    }

    pub fn node_with(
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
    pub fn operation<const N: usize>(
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

pub fn integer_attribute(name: &str, value: i64) -> Attribute {
    Attribute { name: name.to_owned(), i: value, kind: 2, ..Attribute::default() }
}

pub fn float_attribute(name: &str, value: f32) -> Attribute {
    Attribute { name: name.to_owned(), f: value, kind: 1, ..Attribute::default() }
}

pub fn integers_attribute(name: &str, values: &[i64]) -> Attribute {
    Attribute { name: name.to_owned(), ints: values.to_vec(), kind: 7, ..Attribute::default() }
}

/// An input or output with a row for each position.
pub fn rows(name: &str, elem_type: i32, width: Option<usize>) -> ValueInfo {
    let batch = Dimension { dim_value: None, dim_param: Some("positions".to_owned()) };
    let size = |width| Dimension { dim_value: Some(width as i64), dim_param: None };
    let shape = Shape { dim: [batch].into_iter().chain(width.map(size)).collect() };
    let tensor_type = Some(TensorType { elem_type, shape: Some(shape) });
    ValueInfo { name: name.to_owned(), of_type: Some(Type { tensor_type }) }
}

/// [`Tensor::data_type`] and [`TensorType::elem_type`] of f32.
pub const FLOAT: i32 = 1;

/// The same for i64.
pub const INT64: i32 = 7;

#[derive(Clone, PartialEq, Message)]
pub struct Model {
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSet>,
    #[prost(string, tag = "2")]
    pub producer_name: String,
    #[prost(string, tag = "3")]
    pub producer_version: String,
    #[prost(string, tag = "6")]
    pub doc_string: String,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub struct OperatorSet {
    #[prost(int64, tag = "2")]
    pub version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<Node>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, tag = "2")]
    pub f: f32,
    #[prost(int64, tag = "3")]
    pub i: i64,
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    /// 1 for a float, 2 for an integer, 7 for a list of integers.
    #[prost(int32, tag = "20")]
    pub kind: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(string, tag = "8")]
    pub name: String,
    /// Little-endian.
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub of_type: Option<Type>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Type {
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TensorType {
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// A size, or the name of a size that each call chooses.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub dim_param: Option<String>,
}
