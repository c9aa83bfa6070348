//! 3 x 3 convolutions on boards: each square's neighbourhood, padded with zeros, is multiplied by a
//! matrix. The gradients are candle's, except for gathering the neighbours: its forward pass is a
//! copy and its backward pass a sum. Boards are squares x channels, channels last. Candle's
//! convolutions need channels first and train at a third of the speed on boards of 64 squares.

use azimuth_network::tensor_slices::values;
use candle_core::{CpuStorage, CustomOp1, Device, Layout, Module, Result, Shape, Tensor};
use candle_nn::{Linear, VarBuilder};
use cozy_chess::Square;

/// Number of squares in a neighbourhood.
const NEIGHBOURS: usize = 9;

/// The index of a neighbour outside the board.
const OUTSIDE: u8 = Square::NUM as u8;

/// The neighbourhoods of all squares, row by row from south-west to north-east.
const NEIGHBOURHOODS: [[u8; NEIGHBOURS]; Square::NUM] = {
    let mut all = [[OUTSIDE; NEIGHBOURS]; Square::NUM];
    let mut square = 0;
    while square < Square::NUM {
        let mut place = 0;
        while place < NEIGHBOURS {
            let file = (square % 8 + place % 3) as i8 - 1;
            let rank = (square / 8 + place / 3) as i8 - 1;
            if file >= 0 && file < 8 && rank >= 0 && rank < 8 {
                all[square][place] = (rank * 8 + file) as u8;
            }
            place += 1;
        }
        square += 1;
    }
    all
};

/// A convolution with a bias: maps boards x 64 x input channels to boards x 64 x output channels.
pub struct BoardConvolution {
    linear: Linear,
    /// The neighbourhoods of all squares on a device; `None` on the CPU.
    places: Option<Tensor>,
}

/// A convolution with parameters `weight` (out x 9 in) and `bias` (out).
pub fn board_convolution(
    inputs: usize,
    outputs: usize,
    vb: VarBuilder<'_>,
) -> Result<BoardConvolution> {
    BoardConvolution::new(candle_nn::linear(NEIGHBOURS * inputs, outputs, vb)?)
}

/// A convolution initialised to zero.
pub fn silent_board_convolution(
    inputs: usize,
    outputs: usize,
    vb: &VarBuilder<'_>,
) -> Result<BoardConvolution> {
    let zeros = candle_nn::init::ZERO;
    let weight = vb.get_with_hints((outputs, NEIGHBOURS * inputs), "weight", zeros)?;
    let bias = vb.get_with_hints(outputs, "bias", zeros)?;
    BoardConvolution::new(Linear::new(weight, Some(bias)))
}

impl BoardConvolution {
    fn new(linear: Linear) -> Result<Self> {
        let device = linear.weight().device();
        let places = (!device.is_cpu()).then(|| places(device)).transpose()?;
        Ok(Self { linear, places })
    }

    /// The device of the parameters.
    pub fn device(&self) -> &Device {
        self.linear.weight().device()
    }
}

impl Module for BoardConvolution {
    fn forward(&self, boards: &Tensor) -> Result<Tensor> {
        let (count, squares, channels) = boards.dims3()?;
        let boards = boards.contiguous()?;
        let neighbourhoods = match &self.places {
            None => boards.apply_op1(Neighbourhoods { channels })?,
            Some(places) => selected(&boards, places)?,
        };
        self.linear.forward(&neighbourhoods)?.reshape((count, squares, ()))
    }
}

/// The neighbourhoods by candle's operations, for a device: maps boards x 64 x channels to squares x
/// 9 channels.
fn selected(boards: &Tensor, places: &Tensor) -> Result<Tensor> {
    let (count, squares, channels) = boards.dims3()?;
    let outside = Tensor::zeros((count, 1, channels), boards.dtype(), boards.device())?;
    let padded = Tensor::cat(&[boards, &outside], 1)?;
    padded.index_select(places, 1)?.reshape((count * squares, NEIGHBOURS * channels))
}

/// [`NEIGHBOURHOODS`] on a device.
fn places(device: &Device) -> Result<Tensor> {
    let places = NEIGHBOURHOODS.as_flattened().iter().map(|&place| u32::from(place));
    Tensor::from_iter(places, device)
}

/// Gathers neighbourhoods: maps squares x channels to squares x 9 channels.
struct Neighbourhoods {
    channels: usize,
}

/// The gradient of [`Neighbourhoods`]: sums the gradients of each square over all neighbourhoods
/// that contain it.
struct Gathered {
    channels: usize,
}

impl CustomOp1 for Neighbourhoods {
    fn name(&self) -> &'static str {
        "neighbourhoods"
    }

    fn cpu_fwd(&self, boards: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let boards = values(boards, layout)?;
        let channels = self.channels;
        let squares = boards.len() / channels;
        let mut out = vec![0.0; squares * NEIGHBOURS * channels];
        let each = out.chunks_exact_mut(Square::NUM * NEIGHBOURS * channels);
        for (board, out) in boards.chunks_exact(Square::NUM * channels).zip(each) {
            let places = out.chunks_exact_mut(channels).zip(NEIGHBOURHOODS.as_flattened());
            for (place, &neighbour) in places.filter(|(_, neighbour)| **neighbour != OUTSIDE) {
                place.copy_from_slice(&board[usize::from(neighbour) * channels..][..channels]);
            }
        }
        Ok((CpuStorage::F32(out), (squares, NEIGHBOURS * channels).into()))
    }

    fn bwd(&self, boards: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let gathered = Gathered { channels: self.channels };
        gradient.contiguous()?.apply_op1_no_bwd(&gathered)?.reshape(boards.shape()).map(Some)
    }
}

impl CustomOp1 for Gathered {
    fn name(&self) -> &'static str {
        "gathered-neighbourhoods"
    }

    fn cpu_fwd(&self, gradient: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let gradient = values(gradient, layout)?;
        let channels = self.channels;
        let mut out = vec![0.0; gradient.len() / NEIGHBOURS];
        let each = gradient.chunks_exact(Square::NUM * NEIGHBOURS * channels);
        for (board, gradient) in out.chunks_exact_mut(Square::NUM * channels).zip(each) {
            let places = gradient.chunks_exact(channels).zip(NEIGHBOURHOODS.as_flattened());
            for (place, &neighbour) in places.filter(|(_, neighbour)| **neighbour != OUTSIDE) {
                let sums = &mut board[usize::from(neighbour) * channels..][..channels];
                sums.iter_mut().zip(place).for_each(|(sum, value)| *sum += value);
            }
        }
        let squares = out.len() / channels;
        Ok((CpuStorage::F32(out), (squares, channels).into()))
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::*;

    #[test]
    fn values_and_gradients_equal_those_of_candles_convolution() -> Result<()> {
        let (device, count, inputs, outputs) = (Device::Cpu, 2, 3, 4);
        let boards = Var::randn(0f32, 1.0, (count, Square::NUM, inputs), &device)?;
        let weight = Var::randn(0f32, 1.0, (outputs, NEIGHBOURS * inputs), &device)?;
        let bias = Var::randn(0f32, 1.0, outputs, &device)?;
        let own = BoardConvolution::new(Linear::new(
            weight.as_tensor().clone(),
            Some(bias.as_tensor().clone()),
        ))?;
        let found = own.forward(&boards)?;

        let image = boards.transpose(1, 2)?.reshape((count, inputs, 8, 8))?;
        let kernel =
            weight.reshape((outputs, 3, 3, inputs))?.permute((0, 3, 1, 2))?.contiguous()?;
        let known = image.conv2d(&kernel, 1, 1, 1, 1)?.reshape((count, outputs, Square::NUM))?;
        let known = known.transpose(1, 2)?.broadcast_add(&bias)?;

        let slopes = Tensor::randn(0f32, 1.0, found.shape(), &device)?;
        let apart = |a: &Tensor, b: &Tensor| (a - b)?.abs()?.max_all()?.to_scalar::<f32>();
        assert!(apart(&found, &known)? < 1e-4);
        let [found, known] = [&found, &known].map(|out| (out * &slopes)?.sum_all()?.backward());
        let (found, known) = (found?, known?);
        for var in [&boards, &weight, &bias] {
            let [a, b] = [&found, &known].map(|store| store.get(var).expect("tracked"));
            assert!(apart(a, b)? < 1e-3);
        }
        Ok(())
    }

    #[test]
    fn a_device_gathers_the_same_neighbourhoods() -> Result<()> {
        let channels = 3;
        let boards = Var::randn(0f32, 1.0, (2, Square::NUM, channels), &Device::Cpu)?;
        let slopes =
            Tensor::randn(0f32, 1.0, (2 * Square::NUM, NEIGHBOURS * channels), &Device::Cpu)?;
        let known = boards.apply_op1(Neighbourhoods { channels })?;
        let found = selected(&boards, &places(&Device::Cpu)?)?;
        assert_eq!(found.to_vec2::<f32>()?, known.to_vec2::<f32>()?);
        let [found, known] = [found, known].map(|out| (out * &slopes)?.sum_all()?.backward());
        let (found, known) = (found?, known?);
        let [found, known] = [&found, &known].map(|store| store.get(&boards).expect("tracked"));
        assert!((found - known)?.abs()?.max_all()?.to_scalar::<f32>()? < 1e-5);
        Ok(())
    }
}
