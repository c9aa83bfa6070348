//! The sums of bags and their gradients on the CPU, vectorised by the compiler for each instruction
//! set. Each bag has one row of sums.

use multiversion::multiversion;

use super::bags::Bags;

/// Sums `bias` (H) and the rows of `table` (rows x H) in each bag: bags x H.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub fn sum_rows(bags: &Bags, table: &[f32], bias: &[f32], sums: &mut [f32]) {
    let width = bias.len();
    for (bag, sum) in bags.iter().zip(sums.chunks_exact_mut(width)) {
        sum.copy_from_slice(bias);
        for &row in bag {
            let row = &table[usize::from(row) * width..][..width];
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
}

/// Adds the gradient of each bag's sum (bags x H) to those of its rows (rows x H).
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub fn add_to_rows(bags: &Bags, gradients: &[f32], table: &mut [f32]) {
    let width = gradients.len() / bags.len().max(1);
    for (bag, gradient) in bags.iter().zip(gradients.chunks_exact(width.max(1))) {
        for &row in bag {
            let row = &mut table[usize::from(row) * width..][..width];
            row.iter_mut().zip(gradient).for_each(|(row, value)| *row += value);
        }
    }
}

/// Adds the rows of a matrix to `sums`, the gradient of the bias.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub fn sum_columns(rows: &[f32], sums: &mut [f32]) {
    for row in rows.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}

/// `clamp(x, 0, 1)²`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub fn activate(sums: &mut [f32]) {
    sums.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0).powi(2));
}

/// Converts the gradient of activations to that of the sums: `d clamp(x, 0, 1)² / dx` is `2x`
/// inside the interval and 0 outside, and inside x is the square root of the activation.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub fn activation_gradients(activations: &[f32], gradients: &mut [f32]) {
    for (gradient, &activation) in gradients.iter_mut().zip(activations) {
        *gradient *= if activation < 1.0 { 2.0 * activation.sqrt() } else { 0.0 };
    }
}
