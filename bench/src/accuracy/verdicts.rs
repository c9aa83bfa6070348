//! Judgements aggregated by the phase of the game.

use super::decisions::Decision;
use super::judge::{Judgement, win_probability};
use super::results::{Figures, PlayerAccuracy};

/// Minimum number of pieces, kings included, of each phase.
const PHASES: [(&str, u32); 3] = [("opening", 26), ("middlegame", 14), ("endgame", 0)];

/// The figures of one player's decisions.
pub fn summary<'a>(
    name: &str,
    decisions: impl Iterator<Item = (&'a Decision, &'a Judgement)>,
) -> PlayerAccuracy {
    let all: Vec<(&Decision, &Judgement)> = decisions.collect();
    let phase = |decision: &Decision| {
        let pieces = decision.position.board().occupied().len();
        PHASES.iter().position(|&(_, least)| pieces >= least)
    };
    let of_phase = |(number, &(phase_name, _)): (usize, &(&str, u32))| {
        let own = all.iter().filter(|(decision, _)| phase(decision) == Some(number));
        (phase_name.to_owned(), figures(own.copied()))
    };
    PlayerAccuracy {
        player: name.to_owned(),
        all: figures(all.iter().copied()),
        phases: PHASES.iter().enumerate().map(of_phase).collect(),
    }
}

fn figures<'a>(decisions: impl Iterator<Item = (&'a Decision, &'a Judgement)>) -> Figures {
    let (mut losses, mut errors, mut depths) = (Vec::new(), Vec::new(), Vec::new());
    for (decision, judgement) in decisions {
        losses.push(judgement.loss);
        let side = decision.position.board().side_to_move();
        let own = decision.evaluation.map(|evaluation| win_probability(evaluation, side));
        errors.extend(own.map(|own| own - judgement.value));
        depths.extend(decision.depth.map(f64::from));
    }
    let above = |loss: f64| mean(losses.iter().map(|&found| f64::from(u8::from(found > loss))));
    Figures {
        moves: losses.len(),
        loss: mean(losses.iter().copied()),
        loss_error: standard_error(&losses),
        above_005: above(0.05),
        above_015: above(0.15),
        score_error: mean(errors.iter().copied()),
        score_rms: mean(errors.iter().map(|error| error * error)).sqrt(),
        depth: mean(depths.into_iter()),
    }
}

/// The mean, or 0 if there are no values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

fn standard_error(values: &[f64]) -> f64 {
    let middle = mean(values.iter().copied());
    let variance = mean(values.iter().map(|value| (value - middle).powi(2)));
    (variance / values.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use azimuth_chess::position::Position;

    use super::*;
    use crate::games::evaluation::Evaluation;

    #[test]
    fn figures_are_those_of_the_side_that_moved() -> anyhow::Result<()> {
        let position = Position::from_fen("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1")?;
        let mv = position.parse_move("e8e7")?;
        let decision = |evaluation| Decision {
            player: "a".to_owned(),
            position: position.clone(),
            mv,
            evaluation,
            depth: Some(4),
        };
        let decisions = [decision(Some(Evaluation::Mate(-3))), decision(None)];
        let judgements = [Judgement { loss: 0.2, value: 0.9 }, Judgement { loss: 0.0, value: 0.5 }];
        let found = summary("a", decisions.iter().zip(&judgements));
        let figures = &found.all;
        // Black announces mate, and its score is off by a tenth.
        assert!((figures.score_error - 0.1).abs() < 1e-9 && (figures.score_rms - 0.1).abs() < 1e-9);
        assert!((figures.loss - 0.1).abs() < 1e-9 && (figures.loss_error - 0.0707).abs() < 1e-3);
        assert_eq!((figures.above_005, figures.above_015, figures.depth), (0.5, 0.5, 4.0));
        let moves: Vec<usize> = found.phases.iter().map(|(_, figures)| figures.moves).collect();
        assert_eq!(moves, [0, 0, 2]);
        Ok(())
    }
}
