//! The choice of the integer kernels' instruction set: the best of the processor, or the one that
//! an environment variable names, so that tests can compare them. The layers in f32 always use the
//! best of the processor.

use std::env;
use std::fmt::{Display, Formatter};

use anyhow::{Context, Result};

use super::Kernels;

/// The environment variable that names an instruction set.
const VARIABLE: &str = "AZIMUTH_INSTRUCTION_SET";

impl Kernels {
    /// The instruction set that `AZIMUTH_INSTRUCTION_SET` names; if it is not set, the best of this
    /// processor. Fails if this processor does not support the named one.
    pub fn chosen() -> Result<Self> {
        let available = Self::available();
        match env::var_os(VARIABLE) {
            None => Ok(available[0]),
            Some(name) => Self::named(&name.to_string_lossy(), &available),
        }
    }

    fn named(name: &str, available: &[Self]) -> Result<Self> {
        let mut names = available.iter().map(Self::to_string);
        let place = names.position(|known| known == name);
        place.map(|place| available[place]).with_context(|| {
            let names: Vec<String> = available.iter().map(Self::to_string).collect();
            format!("{VARIABLE}: this processor has no '{name}', only {}", names.join(", "))
        })
    }
}

/// The name by which `AZIMUTH_INSTRUCTION_SET` chooses it.
impl Display for Kernels {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "aarch64")]
            Self::Neon => "neon",
            Self::Portable => "portable",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_one_of_the_processor_has_a_name_that_chooses_it() {
        let available = Kernels::available();
        for &kernels in &available {
            let named = Kernels::named(&kernels.to_string(), &available);
            assert_eq!(named.expect("it is available"), kernels);
        }
    }

    #[test]
    fn one_that_the_processor_lacks_is_refused() {
        for name in ["avx512", "avx2", "neon", "Portable", "nonsense", ""] {
            let refused = Kernels::named(name, &[Kernels::Portable]).expect_err("it is lacking");
            let line =
                format!("AZIMUTH_INSTRUCTION_SET: this processor has no '{name}', only portable");
            assert_eq!(refused.to_string(), line);
        }
    }
}
