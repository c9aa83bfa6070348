//! `azimuth-bench accuracy`: win probability lost by players' moves, and the difference between
//! their scores and those of a stronger engine.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::{fmt, thread};

use anyhow::{Context, Result, bail, ensure};
use azimuth::uci::Go;
use azimuth_chess::position::{Ending, Position};
use azimuth_chess::win_probability::win_probability_of_centipawns;
use azimuth_cli::print_line;
use clap::Args;
use cozy_chess::{Color, Move};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::arguments::{DeviceArguments, JsonFile};
use crate::elo::book;
use crate::elo::player::{Choice, Player, Roster, Situation};
use crate::games::{Evaluation, GameRecord, read_file};
use crate::settings::{PlayerSettings, file_name};

/// Judge moves with a strong engine: moves from games, or moves that players choose in given
/// positions.
///
/// The judge searches every position and the position after the chosen move. The loss of a move is
/// the difference in win probability for the side that moved; it is 0 if the judge would have
/// played the same move.
#[derive(Args)]
pub struct Accuracy {
    /// Player to ask for moves, as in `elo`; may be repeated.
    #[arg(long = "player", value_parser = PlayerSettings::parse, requires = "positions")]
    players: Vec<PlayerSettings>,
    /// Positions for the players: one EPD or FEN per line, plain or .zip.
    #[arg(long)]
    positions: Option<PathBuf>,
    /// Judge the moves and recorded scores of these games instead of asking players.
    #[arg(long, conflicts_with_all = ["players", "positions"])]
    games: Option<PathBuf>,
    /// Number of positions, or of moves per player, to judge.
    #[arg(long, default_value_t = 400)]
    count: usize,
    /// Seed of the random selection.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The judge, as a player of `elo`: `cmd=PATH nodes=100000`.
    #[arg(long, value_parser = PlayerSettings::parse)]
    judge: PlayerSettings,
    /// Number of judges or players that run at a time.
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    #[command(flatten)]
    json: JsonFile,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn run(arguments: Accuracy) -> Result<()> {
    let Accuracy { players, positions, games, count, seed, judge, concurrency, .. } = arguments;
    ensure!(concurrency > 0, "--concurrency 0: expected at least 1");
    ensure!(count > 0, "--count 0: expected at least 1");
    arguments.json.check(&games.iter().chain(&positions).collect::<Vec<_>>())?;
    if let Some(clock) = players.iter().chain([&judge]).find_map(|player| player.limit.clock) {
        bail!("tc={clock}: separate positions have no clock; give movetime=, nodes= or depth=");
    }
    let (device, dtype) = arguments.device.open()?;
    let judges = Roster::assemble(vec![judge], &device, dtype)?;
    let (source, decisions) = match (games, positions) {
        (Some(path), _) => (file_name(&path), played(&read_file(&path)?, count, seed)?),
        (None, Some(path)) if !players.is_empty() => {
            let fens = book::openings(&path, count, seed)?;
            let roster = Roster::assemble(players, &device, dtype)?;
            (file_name(&path), chosen(&roster, &fens, concurrency)?)
        }
        (None, Some(_)) => bail!("--positions: no --player is given to ask"),
        (None, None) => bail!("expected --positions and players, or --games"),
    };
    let judged = judged(&judges, &decisions, concurrency)?;
    let results = AccuracyResults {
        source,
        judge: judges.participants[0].name.settings.clone(),
        players: by_player(&decisions, &judged),
    };
    arguments.json.write(&results)?;
    print_line(results.to_string().trim_end())
}

/// A player's move in a position.
#[derive(Clone, Debug)]
struct Decision {
    player: String,
    position: Position,
    mv: Move,
    /// The player's score, from White's view.
    evaluation: Option<Evaluation>,
    depth: Option<u32>,
}

/// Asks a player for its move in a position, without a game before it.
fn ask(player: &mut dyn Player, position: &Position) -> Result<Choice> {
    player.new_game()?;
    player.choose(&Situation {
        start: &position.fen(false),
        moves: &[],
        position,
        go: Go::default(),
    })
}

/// The choice of every player of `roster` in every position; several positions run concurrently.
fn chosen(roster: &Roster, fens: &[String], concurrency: usize) -> Result<Vec<Decision>> {
    let mut decisions = Vec::new();
    for (number, participant) in roster.participants.iter().enumerate() {
        let name = &participant.name.name;
        decisions.extend(in_shares(roster, number, fens, concurrency, |player, fen| {
            let position = Position::from_fen(fen)?;
            let Choice { mv, evaluation, depth, .. } = ask(player, &position)?;
            let mv = position
                .parse_move(&mv)
                .with_context(|| format!("'{name}' makes an illegal move in '{fen}'"))?;
            Ok(vec![Decision { player: name.clone(), position, mv, evaluation, depth }])
        })?);
    }
    Ok(decisions)
}

/// Applies `work` to all `items`, on several threads that each have a player for participant
/// `number` of `roster`. Returns the results in the order of `items`.
fn in_shares<T: Sync, R: Send>(
    roster: &Roster,
    number: usize,
    items: &[T],
    threads: usize,
    work: impl Fn(&mut dyn Player, &T) -> Result<Vec<R>> + Sync,
) -> Result<Vec<R>> {
    let (share, work) = (items.len().div_ceil(threads).max(1), &work);
    let shares = items.chunks(share).map(|share| Ok((share, roster.player(number)?)));
    let shares = shares.collect::<Result<Vec<_>>>()?;
    thread::scope(|scope| {
        let threads: Vec<_> = shares
            .into_iter()
            .map(|(share, mut player)| {
                scope.spawn(move || -> Result<Vec<R>> {
                    let mut done = Vec::new();
                    for item in share {
                        done.extend(work(&mut *player, item)?);
                    }
                    Ok(done)
                })
            })
            .collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().ok().context("a thread that asks failed")??);
        }
        Ok(all)
    })
}

/// Up to `count` moves of each player of `games`, drawn by `seed` from those with a score.
fn played(games: &[GameRecord], count: usize, seed: u64) -> Result<Vec<Decision>> {
    let mut by_player: BTreeMap<&str, Vec<Decision>> = BTreeMap::new();
    for game in games {
        let mut position = Position::from_fen(&game.opening)?;
        for played in &game.moves {
            let board = position.board();
            let name = match board.side_to_move() {
                Color::White => &game.white.name,
                Color::Black => &game.black.name,
            };
            if played.evaluation.is_some() {
                by_player.entry(name).or_default().push(Decision {
                    player: name.clone(),
                    position: position.clone(),
                    mv: played.mv,
                    evaluation: played.evaluation,
                    depth: played.depth,
                });
            }
            position.play(played.mv);
        }
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let drawn = by_player.into_values().flat_map(|mut decisions| {
        decisions.shuffle(&mut rng);
        decisions.truncate(count);
        decisions
    });
    Ok(drawn.collect())
}

/// The judge's verdict on a decision, as win probabilities of the side that moved.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Judgement {
    /// Win probability lost against the judge's best move.
    loss: f64,
    /// Value of the position after the move.
    value: f64,
}

/// Judges all decisions with the one player of `judges`, several at a time, and returns the
/// verdicts in their order.
fn judged(judges: &Roster, decisions: &[Decision], concurrency: usize) -> Result<Vec<Judgement>> {
    // Each pair of position and move is judged once, even if several players chose it.
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, decision) in decisions.iter().enumerate() {
        places.entry(decision.position.fen(true)).or_default().push(index);
    }
    let mut places: Vec<Vec<usize>> = places.into_values().collect();
    places.sort_unstable();
    let judge =
        |judge: &mut dyn Player, places: &Vec<usize>| judge_position(judge, decisions, places);
    let mut found = in_shares(judges, 0, &places, concurrency, judge)?;
    found.sort_unstable_by_key(|&(place, _)| place);
    Ok(found.into_iter().map(|(_, judgement)| judgement).collect())
}

/// Judges the decisions at `places`, all in one position.
fn judge_position(
    judge: &mut dyn Player,
    decisions: &[Decision],
    places: &[usize],
) -> Result<Vec<(usize, Judgement)>> {
    let position = &decisions[places[0]].position;
    let side = position.board().side_to_move();
    let choice = ask(judge, position)?;
    let own_move = position.parse_move(&choice.mv).context("the judge's move is illegal")?;
    let best = win_probability(choice.evaluation.context("the judge names no score")?, side);
    let mut values: HashMap<Move, f64> = HashMap::new();
    let mut found = Vec::new();
    for &place in places {
        let mv = decisions[place].mv;
        let value = match values.get(&mv) {
            Some(&value) => value,
            None => value_after(judge, position, mv)?,
        };
        values.insert(mv, value);
        let loss = if mv == own_move { 0.0 } else { (best - value).max(0.0) };
        found.push((place, Judgement { loss, value }));
    }
    Ok(found)
}

/// The judge's value of the position after a move, for the side that moved.
fn value_after(judge: &mut dyn Player, position: &Position, mv: Move) -> Result<f64> {
    let side = position.board().side_to_move();
    let after = position.after(mv);
    match after.ending() {
        Some(Ending::Checkmate { .. }) => return Ok(1.0),
        Some(Ending::Stalemate | Ending::InsufficientMaterial) => return Ok(0.5),
        _ => {}
    }
    let evaluation = ask(judge, &after)?.evaluation.context("the judge names no score")?;
    Ok(win_probability(evaluation, side))
}

/// A score from White's view as the win probability of `side`.
fn win_probability(evaluation: Evaluation, side: Color) -> f64 {
    match evaluation.seen_by(side) {
        Evaluation::Centipawns(value) => win_probability_of_centipawns(value.into()),
        Evaluation::Mate(moves) => f64::from(u8::from(moves > 0)),
    }
}

/// Minimum number of pieces, kings included, of each phase.
const PHASES: [(&str, u32); 3] = [("opening", 26), ("middlegame", 14), ("endgame", 0)];

/// The figures of each player, in the order of their names.
fn by_player(decisions: &[Decision], judged: &[Judgement]) -> Vec<PlayerAccuracy> {
    let mut own: BTreeMap<&str, Vec<(&Decision, &Judgement)>> = BTreeMap::new();
    for judged in decisions.iter().zip(judged) {
        own.entry(&judged.0.player).or_default().push(judged);
    }
    let phase_of = |decision: &Decision| {
        let pieces = decision.position.board().occupied().len();
        PHASES.iter().find(|&&(_, least)| pieces >= least)
    };
    let accuracy = |(name, all): (&str, Vec<(&Decision, &Judgement)>)| {
        let of_phase = |phase: &(&str, u32)| {
            let own = all.iter().filter(|(decision, _)| phase_of(decision) == Some(phase));
            (phase.0.to_owned(), figures(own.copied()))
        };
        PlayerAccuracy {
            player: name.to_owned(),
            all: figures(all.iter().copied()),
            phases: PHASES.iter().map(of_phase).collect(),
        }
    };
    own.into_iter().map(accuracy).collect()
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
    let loss = mean(losses.iter().copied());
    let variance = mean(losses.iter().map(|found| (found - loss).powi(2)));
    Figures {
        moves: losses.len(),
        loss,
        loss_error: (variance / losses.len().max(1) as f64).sqrt(),
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

/// All players judged by one engine.
#[derive(Debug, Serialize, Deserialize)]
pub struct AccuracyResults {
    /// Name of the file of positions or games.
    pub source: String,
    /// The judge and its limit.
    pub judge: String,
    pub players: Vec<PlayerAccuracy>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct PlayerAccuracy {
    pub player: String,
    pub all: Figures,
    /// By phase, from opening to endgame.
    pub phases: Vec<(String, Figures)>,
}

/// Means over moves, in win probability.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub moves: usize,
    /// Mean win probability lost per move, with its standard error.
    pub loss: f64,
    pub loss_error: f64,
    /// Share of the moves that lose more than 0.05.
    pub above_005: f64,
    pub above_015: f64,
    /// The player's score minus the judge's score of the position after the move.
    pub score_error: f64,
    pub score_rms: f64,
    /// Depth of the player's search, in plies.
    pub depth: f64,
}

const HEADINGS: &str = "| player | phase | moves | loss a move | lose > 0.05 | lose > 0.15 | \
                        own score less the judge's: mean, rms | depth |\n\
                        |---|---|---|---|---|---|---|---|\n";

impl fmt::Display for AccuracyResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADINGS)?;
        for PlayerAccuracy { player, all, phases } in &self.players {
            writeln!(f, "| {player} | all | {all} |")?;
            for (phase, figures) in phases.iter().filter(|(_, figures)| figures.moves > 0) {
                writeln!(f, "| | {phase} | {figures} |")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} | {:.4} ± {:.4} | {:.1}% | {:.1}% | {:+.3}, {:.3} | {:.1}",
            self.moves,
            self.loss,
            self.loss_error,
            self.above_005 * 100.0,
            self.above_015 * 100.0,
            self.score_error,
            self.score_rms,
            self.depth
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let found = by_player(&decisions, &judgements).remove(0);
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
