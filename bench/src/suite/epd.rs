//! Best-move suites: EPD with `bm` or `am`, and graded moves in `c0` as in the Strategic Test
//! Suite.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::{Position, split_operations};
use azimuth_chess::san::parse_move;
use cozy_chess::Move;

#[derive(Debug)]
pub struct Problem {
    pub position: Position,
    /// Moves that solve the problem (`bm`); may be empty.
    pub best: Vec<Move>,
    /// Moves to avoid (`am`).
    pub avoid: Vec<Move>,
    /// Moves with points, if the problem grades moves.
    pub graded: Vec<(Move, u32)>,
}

impl Problem {
    pub fn is_solved_by(&self, mv: Move) -> bool {
        (self.best.is_empty() || self.best.contains(&mv)) && !self.avoid.contains(&mv)
    }

    /// Points for a move, and the maximum. Without grades, a solution counts 1.
    pub fn points(&self, mv: Move) -> (u32, u32) {
        match self.graded.iter().map(|(_, points)| *points).max() {
            None => (u32::from(self.is_solved_by(mv)), 1),
            Some(most) => {
                let found = self.graded.iter().find(|(graded, _)| *graded == mv);
                (found.map_or(0, |(_, points)| *points), most)
            }
        }
    }
}

/// Reads a suite. Fails, with the line number, at an illegal position or move, and at a line that
/// asks for no move.
pub fn read(path: &Path) -> Result<Vec<Problem>> {
    let name = || format!("suite '{}'", path.display());
    let text = std::fs::read_to_string(path).with_context(name)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let problems: Vec<Problem> = lines
        .map(|(number, line)| {
            problem(line).with_context(|| format!("{}, line {}", name(), number + 1))
        })
        .collect::<Result<_>>()?;
    ensure!(!problems.is_empty(), "{}: no positions in it", name());
    Ok(problems)
}

fn problem(line: &str) -> Result<Problem> {
    let (fen, rest) = split_operations(line);
    let position = Position::from_fen(&fen)?;
    let (mut best, mut avoid, mut graded) = (Vec::new(), Vec::new(), Vec::new());
    for operation in operations(&rest) {
        let (name, operand) = operation.split_once(char::is_whitespace).unwrap_or((operation, ""));
        match name {
            "bm" => best = moves(&position, operand)?,
            "am" => avoid = moves(&position, operand)?,
            "c0" if operand.contains('=') => graded = grades(&position, operand)?,
            _ => {}
        }
    }
    ensure!(!best.is_empty() || !avoid.is_empty(), "neither bm nor am");
    Ok(Problem { position, best, avoid, graded })
}

/// The operations of a line, without the semicolons that end them; a semicolon inside quotes does
/// not end an operation.
fn operations(text: &str) -> Vec<&str> {
    let mut quoted = false;
    text.split(|c| {
        quoted ^= c == '"';
        c == ';' && !quoted
    })
    .map(str::trim)
    .filter(|operation| !operation.is_empty())
    .collect()
}

fn moves(position: &Position, operand: &str) -> Result<Vec<Move>> {
    operand.split_whitespace().map(|san| parse_move(position, san)).collect()
}

/// Reads `"f5=10, Be5+=2"`. The last `=` separates, because promotions contain one too.
fn grades(position: &Position, operand: &str) -> Result<Vec<(Move, u32)>> {
    let graded = operand.trim_matches('"').split(',').map(|part| {
        let (san, points) =
            part.trim().rsplit_once('=').with_context(|| format!("'{part}': not a grade"))?;
        let points = points.parse().ok().with_context(|| format!("'{part}': not a grade"))?;
        Ok((parse_move(position, san)?, points))
    });
    graded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "1kr5/3n4/q3p2p/p2n2p1/PppB1P2/5BP1/1P2Q2P/3R2K1 w - - bm f5; \
                        id \"a; b\"; c0 \"f5=10, Be5+=2, Bf2=3\";";

    #[test]
    fn moves_and_grades_are_read() -> Result<()> {
        let problem = problem(LINE)?;
        let mv = |text| problem.position.parse_move(text);
        assert!(problem.is_solved_by(mv("f4f5")?) && !problem.is_solved_by(mv("d4e5")?));
        assert_eq!(problem.points(mv("d4e5")?), (2, 10));
        assert_eq!(problem.points(mv("f4f5")?), (10, 10));
        assert_eq!(problem.points(mv("g1h1")?), (0, 10));
        Ok(())
    }

    #[test]
    fn moves_to_avoid_are_no_solutions() -> Result<()> {
        let problem = problem("4k3/8/8/8/8/8/8/4K2R w K - am O-O Rh8+; id \"x\";")?;
        let mv = |text| problem.position.parse_move(text);
        assert!(!problem.is_solved_by(mv("e1g1")?) && problem.is_solved_by(mv("h1h2")?));
        assert_eq!(problem.points(mv("h1h2")?), (1, 1));
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, part) in [
            ("4k3/8/8/8/8/8/8/4K2R w K - bm Qd1;", "move 'Qd1' is not legal"),
            ("4k3/8/8/8/8/8/8/4K2R w K - id \"x\";", "neither bm nor am"),
            ("hello", "FEN 'hello"),
            ("4k3/8/8/8/8/8/8/4K2R w K - bm Rh2; c0 \"Rh2=x\";", "not a grade"),
        ] {
            let error = format!("{:#}", problem(line).expect_err(line));
            assert!(error.contains(part), "{error}");
        }
    }
}
