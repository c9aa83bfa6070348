//! Links the module on macOS without Python's library, which the interpreter provides.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
