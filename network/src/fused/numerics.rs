//! Exponentials and the normal distribution in a form that compilers vectorise.

/// e^x for x <= 0 with a relative error below 6e-6: a polynomial for the fractional power of two,
/// and the exponent bits for the integral one. Below -87 it is 0.
#[inline(always)]
pub fn exp_of_negative(x: f32) -> f32 {
    let power = (x * std::f32::consts::LOG2_E).max(-126.0);
    let whole = power.floor();
    let fraction = (power - whole) * std::f32::consts::LN_2;
    let mut sum = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * fraction + coefficient;
    }
    let scale = f32::from_bits(((whole as i32 + 127) << 23) as u32);
    if x < -87.0 { 0.0 } else { sum * scale }
}

/// Φ(x) and φ(x) of the standard normal distribution, Φ to 1.5e-7 (Abramowitz and Stegun 7.1.26).
#[inline(always)]
pub fn normal(x: f32) -> (f32, f32) {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let mut sum = 1.061_405_4;
    for coefficient in [-1.453_152, 1.421_413_8, -0.284_496_74, 0.254_829_6] {
        sum = sum * t + coefficient;
    }
    let bell = exp_of_negative(-z * z);
    let tail = 0.5 * sum * t * bell;
    let below = if x < 0.0 { tail } else { 1.0 - tail };
    (below, bell * 0.398_942_3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_exact_to_five_digits() {
        for step in 0..10_000 {
            let x = -87.0 * step as f32 / 10_000.0;
            assert!((exp_of_negative(x) / x.exp() - 1.0).abs() < 6e-6, "{x}");
        }
        assert_eq!(exp_of_negative(f32::NEG_INFINITY), 0.0);
    }
}
