//! The HTML page of a report: the page of `azimuth serve` in one file, with the games and their
//! analysis in place of an engine.

use std::cell::{Cell, RefCell};
use std::io::Write;

use anyhow::{Error, Result};
use askama::Template;
use azimuth_pages::{BOARD_CREDIT, PIECES_STYLE, policy};
use azimuth_search::inference::ModelClient;
use cozy_chess::Board;
use serde::{Serialize, Serializer};

use super::analysis::{Judged, Stop};
use super::game::Game;
use super::journal::{Journal, StoredGames};
use crate::board_page::{PAGE_BODY, PAGE_SCRIPT, PAGE_STYLE};
use crate::map::{Map, MapWeights, Neighbours, Sampled};

/// Number of neighbours of a position in the sample of the map.
const NEAR: usize = 4;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    policy: String,
    pieces_style: &'static str,
    style: &'static str,
    body: &'static str,
    script: &'static str,
    data: Data<'a>,
}

/// The data of the page besides the games.
pub struct Frame<'a> {
    /// The engine that analysed the games, and how.
    pub credit: &'a str,
    /// The map that the games are drawn on.
    pub map: &'a Map,
    /// The weights that drew the map.
    pub weights: MapWeights,
}

#[derive(Serialize)]
struct Data<'a> {
    credit: &'a str,
    board_credit: &'static str,
    weights: MapWeights,
    sample: &'a [Sampled],
    games: Streamed<'a>,
}

/// Games that are read from the journal while they are written to the page.
struct Streamed<'a> {
    games: RefCell<StoredGames<'a>>,
    failed: &'a Cell<Option<Error>>,
}

impl Serialize for Streamed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut games = self.games.borrow_mut();
        serializer.collect_seq(games.by_ref().map_while(|game| match game {
            Ok(game) => Some(game),
            Err(error) => {
                self.failed.set(Some(error));
                None
            }
        }))
    }
}

/// A game in the form that the page's script reads.
#[derive(Serialize)]
pub struct GameData<'a> {
    #[serde(flatten)]
    game: &'a Game,
    /// The positions of the main line.
    judged: Vec<Judged>,
    /// Their places on the map.
    path: Vec<[f32; 2]>,
    /// Their neighbours in the sample.
    near: Vec<Neighbours>,
}

impl<'a> GameData<'a> {
    /// Converts an analysed game. `model` draws `map`. Fails if the model does.
    pub fn new(game: &'a Game, stops: &[Stop], map: &Map, model: &mut ModelClient) -> Result<Self> {
        let boards: Vec<Board> = stops.iter().map(|stop| stop.position.board().clone()).collect();
        let near =
            boards.iter().map(|board| map.near(model, board, NEAR)).collect::<Result<_>>()?;
        Ok(Self {
            game,
            judged: stops.iter().enumerate().map(|(ply, stop)| Judged::new(ply, stop)).collect(),
            path: map.spots(model, &boards)?.into_iter().map(|spot| spot.at).collect(),
            near,
        })
    }
}

/// Writes the page with the games of a journal to `out`.
pub fn write_page(journal: &mut Journal, frame: &Frame<'_>, out: &mut impl Write) -> Result<()> {
    let failed = Cell::new(None);
    let games = Streamed { games: RefCell::new(journal.games()?), failed: &failed };
    let page = Page {
        policy: policy(PAGE_SCRIPT),
        pieces_style: PIECES_STYLE,
        style: PAGE_STYLE,
        body: PAGE_BODY,
        script: PAGE_SCRIPT,
        data: Data {
            credit: frame.credit,
            board_credit: BOARD_CREDIT,
            weights: frame.weights,
            sample: frame.map.sample(),
            games,
        },
    };
    let written = page.write_into(out);
    // The cause of an error of the journal is lost on the way through the template.
    failed.take().map_or(Ok(()), Err)?;
    Ok(written?)
}
