//! What the fused operations gain over candle's own, forward and backward, at the mini's sizes.

use std::hint::black_box;

use azimuth::encoder::fused;
use candle_core::{D, Device, Result, Tensor, Var};
use candle_nn::ops::{layer_norm_slow, softmax};
use criterion::{Criterion, criterion_group, criterion_main};

const BATCH: usize = 32;
const LENGTH: usize = 78;
const WIDTH: usize = 128;
const HEADS: usize = 8;
const MLP: usize = 256;

fn noise(shape: &[usize]) -> Var {
    Var::randn(0f32, 1f32, shape, &Device::Cpu).expect("memory")
}

/// Candle's operations for what [`fused::attention`] does in one.
fn composed_attention(packed: &Tensor) -> Result<Tensor> {
    let head = WIDTH / HEADS;
    let split = packed.reshape((BATCH, LENGTH, 3, HEADS, head))?.permute((2, 0, 3, 1, 4))?;
    let part = |index: usize| split.get(index)?.contiguous();
    let (q, k, v) = (part(0)?, part(1)?, part(2)?);
    let scores = (q * (head as f64).powf(-0.5))?.matmul(&k.transpose(2, 3)?)?;
    softmax(&scores, D::Minus1)?.matmul(&v)?.transpose(1, 2)?.reshape((BATCH, LENGTH, WIDTH))
}

fn operations(c: &mut Criterion) {
    let (packed, rows) = (noise(&[BATCH, LENGTH, 3 * WIDTH]), noise(&[BATCH, LENGTH, WIDTH]));
    let (wide, weight, bias) = (noise(&[BATCH, LENGTH, MLP]), noise(&[WIDTH]), noise(&[WIDTH]));
    type Operation<'a> = &'a dyn Fn() -> Result<Tensor>;
    let pairs: [(&str, Operation<'_>, Operation<'_>); 3] = [
        ("attention", &|| fused::attention(&packed, HEADS), &|| composed_attention(&packed)),
        ("layer norm", &|| fused::layer_norm(&rows, &weight, &bias, 1e-5), &|| {
            layer_norm_slow(&rows, &weight, &bias, 1e-5)
        }),
        ("GELU", &|| fused::gelu(&wide), &|| wide.gelu_erf()),
    ];
    for (name, fused, composed) in pairs {
        let mut group = c.benchmark_group(name);
        group.sample_size(20);
        for (kind, operation) in [("fused", fused), ("composed", composed)] {
            group.bench_function(kind, |b| {
                b.iter(|| {
                    let loss = operation().and_then(|out| out.sqr()?.sum_all());
                    black_box(loss.and_then(|loss| loss.backward()).expect("a gradient"));
                });
            });
        }
    }
}

criterion_group!(benches, operations);
criterion_main!(benches);
