//! Comparing an operation with a known one in tests.

use candle_core::{Result, Tensor, Var};

/// Checks that two tensors are equal, and that both give the variables equal gradients for random
/// gradients of the tensors. The errors are the largest allowed differences of values and of
/// gradients.
pub fn assert_agree(
    found: &Tensor,
    known: &Tensor,
    variables: &[&Var],
    [of_values, of_gradients]: [f32; 2],
) -> Result<()> {
    let apart = |a: &Tensor, b: &Tensor| (a - b)?.abs()?.max_all()?.to_scalar::<f32>();
    assert!(apart(found, known)? < of_values);
    let of_output = Tensor::randn(0f32, 1.0, found.shape(), found.device())?;
    let gradients = |out: &Tensor| (out * &of_output)?.sum_all()?.backward();
    let (found, known) = (gradients(found)?, gradients(known)?);
    for variable in variables {
        let [a, b] = [&found, &known].map(|store| store.get(variable).expect("tracked"));
        assert!(apart(a, b)? < of_gradients);
    }
    Ok(())
}
