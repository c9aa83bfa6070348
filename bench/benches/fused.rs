//! The fused operations against candle's, forward and backward, at the sizes of the mini encoder.

use std::hint::black_box;

use azimuth_network::fused;
use azimuth_network::fused::{AddNorm, DropoutMask, reference};
use candle_core::{Device, Result, Tensor};
use criterion::{Criterion, criterion_group, criterion_main};

const BATCH: usize = 32;
const LENGTH: usize = 78;
const WIDTH: usize = 128;
const HEADS: usize = 8;
const MLP: usize = 256;

fn noise(shape: &[usize]) -> Tensor {
    Tensor::randn(0f32, 1f32, shape, &Device::Cpu).expect("memory")
}

fn operations(c: &mut Criterion) {
    let mask = DropoutMask::new(0.1, 1);
    let rows = BATCH * LENGTH;
    let (packed, bias) = (noise(&[BATCH, LENGTH, 3 * WIDTH]), noise(&[3 * WIDTH]));
    let mixed = noise(&[BATCH, LENGTH, WIDTH]);
    let attention_fused = || -> Result<Tensor> {
        fused::attention(&packed, &bias, HEADS, mask)?;
        fused::attention_back(&packed, &bias, HEADS, mask, &mixed)
    };
    let attention_composed = || -> Result<Tensor> {
        let attend = |x: &[Tensor]| reference::attention(&x[0], &x[1], HEADS, mask);
        let [slopes, _] = reference::gradients(attend, [&packed, &bias], &mixed)?;
        Ok(slopes)
    };
    let [x, branch, gradient] = [(); 3].map(|()| noise(&[rows, WIDTH]));
    let [bias, weight, shift] = [(); 3].map(|()| noise(&[WIDTH]));
    let parameters = AddNorm { bias, weight, shift };
    let norm_fused = || -> Result<Tensor> {
        fused::add_norm(&x, &branch, &parameters, mask)?;
        Ok(fused::add_norm_back(&x, &branch, &parameters, mask, &gradient)?.x)
    };
    let norm_composed = || -> Result<Tensor> {
        Ok(reference::add_norm_back(&x, &branch, &parameters, mask, &gradient)?.x)
    };
    let (wide, wide_bias) = (noise(&[rows, MLP]), noise(&[MLP]));
    let wide_gradient = noise(&[rows, MLP]);
    let gelu_fused = || -> Result<Tensor> {
        fused::gelu(&wide, &wide_bias, mask)?;
        fused::gelu_back(&wide, &wide_bias, mask, &wide_gradient)
    };
    let gelu_composed = || -> Result<Tensor> {
        let activate = |x: &[Tensor]| reference::gelu(&x[0], &x[1], mask);
        let [slopes, _] = reference::gradients(activate, [&wide, &wide_bias], &wide_gradient)?;
        Ok(slopes)
    };
    type Operation<'a> = &'a dyn Fn() -> Result<Tensor>;
    let pairs: [(&str, Operation<'_>, Operation<'_>); 3] = [
        ("attention", &attention_fused, &attention_composed),
        ("residual + layer norm", &norm_fused, &norm_composed),
        ("bias + GELU", &gelu_fused, &gelu_composed),
    ];
    for (name, fused, composed) in pairs {
        let mut group = c.benchmark_group(name);
        group.sample_size(20);
        for (kind, operation) in [("fused", fused), ("composed", composed)] {
            group.bench_function(kind, |b| {
                b.iter(|| black_box(operation().expect("a gradient")));
            });
        }
    }
}

criterion_group!(benches, operations);
criterion_main!(benches);
