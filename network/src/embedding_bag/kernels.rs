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
pub fn add_to_rows(bags: &Bags, slopes: &[f32], table: &mut [f32]) {
    let width = slopes.len() / bags.len().max(1);
    for (bag, slopes) in bags.iter().zip(slopes.chunks_exact(width.max(1))) {
        for &row in bag {
            let row = &mut table[usize::from(row) * width..][..width];
            row.iter_mut().zip(slopes).for_each(|(row, value)| *row += value);
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
pub fn activation_slopes(activations: &[f32], slopes: &mut [f32]) {
    for (slope, &activation) in slopes.iter_mut().zip(activations) {
        *slope *= if activation < 1.0 { 2.0 * activation.sqrt() } else { 0.0 };
    }
}
