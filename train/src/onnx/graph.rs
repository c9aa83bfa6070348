//! Builds an ONNX graph node by node.

use super::messages::{
    Attribute, Dimension, FLOAT, Graph, INT64, KIND_FLOAT, KIND_INT, KIND_INTS, Node, Shape,
    Tensor, TensorType, Type, ValueInfo,
};

/// The name of the dimension that each call chooses: the number of positions.
const BATCH: &str = "positions";

/// A graph under construction. Values are identified by their names.
#[derive(Default)]
pub struct Builder {
    nodes: Vec<Node>,
    constants: Vec<Tensor>,
}

impl Builder {
    /// A constant of f32.
    pub fn floats(&mut self, name: &str, dims: &[usize], values: &[f32]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, dims, FLOAT, bytes)
    }

    /// A constant of f32 with a single value.
    pub fn float(&mut self, name: &str, value: f32) -> String {
        self.floats(name, &[], &[value])
    }

    /// A vector of i64.
    pub fn integers(&mut self, name: &str, values: &[i64]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, &[values.len()], INT64, bytes)
    }

    /// A constant of i64 with a single value.
    pub fn integer(&mut self, name: &str, value: i64) -> String {
        self.constant(name, &[], INT64, value.to_le_bytes().to_vec())
    }

    fn constant(&mut self, name: &str, dims: &[usize], data_type: i32, raw: Vec<u8>) -> String {
        self.constants.push(Tensor {
            dims: dims.iter().map(|&size| size as i64).collect(),
            data_type,
            name: name.to_owned(),
            raw_data: raw,
        });
        name.to_owned()
    }

    /// Adds an operation with one result, which is called `name`.
    pub fn node(&mut self, name: &str, op: &str, inputs: &[&str]) -> String {
        self.node_with(name, op, inputs, Vec::new())
    }

    /// Adds an operation with attributes.
    pub fn node_with(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&str],
        attributes: Vec<Attribute>,
    ) -> String {
        self.add(op, inputs, vec![name.to_owned()], attributes);
        name.to_owned()
    }

    /// Splits `input` along its last axis into parts of the sizes in `sizes`.
    pub fn split<const N: usize>(
        &mut self,
        names: [String; N],
        input: &str,
        sizes: &str,
    ) -> [String; N] {
        self.add("Split", &[input, sizes], names.to_vec(), vec![integer("axis", -1)]);
        names
    }

    fn add(&mut self, op: &str, inputs: &[&str], outputs: Vec<String>, attribute: Vec<Attribute>) {
        self.nodes.push(Node {
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            name: outputs.first().cloned().unwrap_or_default(),
            output: outputs,
            op_type: op.to_owned(),
            attribute,
        });
    }

    /// The graph with its inputs and outputs.
    pub fn finish(self, name: &str, input: Vec<ValueInfo>, output: Vec<ValueInfo>) -> Graph {
        Graph {
            node: self.nodes,
            name: name.to_owned(),
            initializer: self.constants,
            input,
            output,
        }
    }
}

/// An attribute that is an integer.
pub fn integer(name: &str, value: i64) -> Attribute {
    Attribute { name: name.to_owned(), i: value, kind: KIND_INT, ..Attribute::default() }
}

/// An attribute that is a float.
pub fn float(name: &str, value: f32) -> Attribute {
    Attribute { name: name.to_owned(), f: value, kind: KIND_FLOAT, ..Attribute::default() }
}

/// An attribute that is a list of integers.
pub fn integers(name: &str, values: &[i64]) -> Attribute {
    Attribute {
        name: name.to_owned(),
        ints: values.to_vec(),
        kind: KIND_INTS,
        ..Default::default()
    }
}

/// An input or output with a row for each position.
pub fn rows(name: &str, elem_type: i32, width: Option<usize>) -> ValueInfo {
    let batch = Dimension { dim_value: None, dim_param: Some(BATCH.to_owned()) };
    let size = |width| Dimension { dim_value: Some(width as i64), dim_param: None };
    let shape = Shape { dim: [batch].into_iter().chain(width.map(size)).collect() };
    let tensor_type = Some(TensorType { elem_type, shape: Some(shape) });
    ValueInfo { name: name.to_owned(), of_type: Some(Type { tensor_type }) }
}
