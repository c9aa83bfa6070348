//! The noise schedule: at time t of T a token is masked with probability 1 - alpha_t; alpha falls
//! linearly from 1 to 0.

use candle_core::{Result, Tensor};

/// The probability that a token is not masked at time `t` of `timesteps`.
pub fn alpha(t: usize, timesteps: usize) -> f64 {
    1.0 - t as f64 / timesteps as f64
}

/// lambda_t = (alpha_{t-1} - alpha_t) / (1 - alpha_t): the weight in the loss of a masked token at
/// time `t` (from 1), and the probability that it is unmasked in the step to t - 1. (The document's
/// formula lacks a minus sign.)
pub fn lambda(t: usize, timesteps: usize) -> f64 {
    (alpha(t - 1, timesteps) - alpha(t, timesteps)) / (1.0 - alpha(t, timesteps))
}

/// The loss of the document's Algorithm 1, averaged over sequences: minus lambda_t times the sum,
/// over the masked tokens (x_t differs from x_0), of the log probability of the true token.
/// `truths` (sequences x tokens) holds these log probabilities. `masked` (sequences x tokens) holds
/// the weight of each masked token, and 0 for other tokens. `lambdas` holds one number for each
/// sequence.
pub fn loss(truths: &Tensor, masked: &Tensor, lambdas: &Tensor) -> Result<Tensor> {
    ((truths * masked)?.sum(1)? * lambdas)?.mean_all()?.neg()
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn lambda_is_one_over_t_for_a_line() {
        for t in 1..=8 {
            assert!((lambda(t, 8) - 1.0 / t as f64).abs() < 1e-12, "{t}");
        }
        // At time 1 all masked tokens are unmasked, so none is left at time 0.
        assert_eq!(lambda(1, 8), 1.0);
        assert_eq!((alpha(0, 8), alpha(8, 8)), (1.0, 0.0));
    }

    #[test]
    fn the_loss_is_the_formulas_on_two_tokens() -> Result<()> {
        let device = &Device::Cpu;
        // Probabilities 1/2 and 1/4 at t = 2 of 4 with both masked; 1/8 and 1 at t = 4 with the
        // first masked.
        let truths = Tensor::new(&[[0.5f32, 0.25], [0.125, 1.0]], device)?.log()?;
        let masked = Tensor::new(&[[1f32, 1.0], [1.0, 0.0]], device)?;
        let lambdas = [lambda(2, 4) as f32, lambda(4, 4) as f32];
        let found = loss(&truths, &masked, &Tensor::new(&lambdas, device)?)?.to_scalar::<f32>()?;
        // By hand: (1/2 (ln 2 + ln 4) + 1/4 ln 8) / 2 = (3/2 ln 2 + 3/4 ln 2) / 2 = 9/8 ln 2.
        assert!((found - 1.125 * 2f32.ln()).abs() < 1e-6, "{found}");
        Ok(())
    }
}
