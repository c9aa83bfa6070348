//! Places a game's positions and the legal moves on the map of the space. The beam's weights draw
//! it: those of the selective search leave captures to the search, so a game's path through their
//! space jumps at each capture.

use anyhow::Result;
use azimuth_chess::position::{board_after, castles_as_in_chess960, legal_moves, uci_move};
use azimuth_chess::san::san_of_move;
use cozy_chess::{Board, Color};

use super::Job;
use crate::embedded_weights::EmbeddedWeights;
use crate::serve::protocol::{Candidate, Event, Space};

/// Number of neighbours.
const NEAR: usize = 8;

/// Sends the places, with the sample if the page asks for it.
pub fn space(job: &mut Job<'_>, sample: bool) -> Result<()> {
    let models = job.seat.models();
    let mut model = models.model(EmbeddedWeights::Beam)?;
    let map = models.map()?;
    let mut boards = vec![job.line.start.board().clone()];
    for &mv in &job.line.moves {
        boards.push(board_after(&boards[boards.len() - 1], mv));
    }
    let board = job.line.last.board();
    let moves = legal_moves(board);
    let after: Vec<Board> = moves.iter().map(|&mv| board_after(board, mv)).collect();
    let path = map.spots(&mut model, &boards)?.into_iter().map(|spot| spot.at).collect();
    let chess960 = castles_as_in_chess960(board);
    let candidates = moves.iter().zip(map.spots(&mut model, &after)?).map(|(&mv, spot)| {
        let p = if board.side_to_move() == Color::White { spot.p } else { 1.0 - spot.p };
        let (uci, san) = (uci_move(board, mv, chess960), san_of_move(board, mv));
        Candidate { uci, san, at: spot.at, p }
    });
    let space = Space {
        id: job.id,
        weights: models.map_weights(),
        path,
        candidates: candidates.collect(),
        near: map.near(&mut model, board, NEAR)?,
        sample: sample.then(|| map.sample().to_vec()),
    };
    job.outlet.send(Event::Space(Box::new(space)));
    Ok(())
}
