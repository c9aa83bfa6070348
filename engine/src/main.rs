//! `azimuth`: the engine on standard input and output.

fn main() {
    azimuth::uci::run(std::io::stdin().lock());
}
