//! Lets the module be linked on macOS without Python's library, which the interpreter brings.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
