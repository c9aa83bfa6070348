//! `azimuth-train map`: plots of a space (paper, Figures 1 and 3) and of its axis.

mod measures;
mod picture;
mod projection;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::pgn::{Game, Reader, open_text, pgn_files};
use azimuth_cli::{print_line, say};
use azimuth_network::replace_file::replace_file;
use azimuth_network::{Inputs, Perspective};
use clap::{Args, ValueEnum};
use cozy_chess::{Board, Color};
use projection::{Plane, Projection};

use super::{EmbeddedPositions, PositionsOptions, boards_of};

/// Minimum number of positions for a map.
const LEAST_POSITIONS: usize = 20;

/// Plot a space: positions in the plane, trajectories of games, mates along the axis, scores by
/// depth.
#[derive(Args)]
pub struct MapOptions {
    #[command(flatten)]
    positions: PositionsOptions,
    /// Figures to draw, separated by commas [default: all; `games` only with --games].
    #[arg(long, value_enum, value_delimiter = ',')]
    figures: Vec<Figure>,
    /// Projection to the plane.
    #[arg(long, value_enum, default_value_t = Projection::Pca)]
    projection: Projection,
    /// PGN file for the `games` figure; its first three games are drawn.
    #[arg(long)]
    games: Option<PathBuf>,
    /// Folder to write to: space.svg, space.html, games.svg, mates.svg, depths.svg.
    #[arg(long, short)]
    out: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Figure {
    /// Positions in the plane, coloured by win probability, as a picture and a page (paper, Figure
    /// 1).
    Space,
    /// Trajectories of three games (paper, Figure 3).
    Games,
    /// Distance along the axis by plies to mate.
    Mates,
    /// Score of positions by search depth.
    Depths,
}

impl MapOptions {
    /// Draws the figures. Fails if the folder cannot be written.
    pub fn run(&self) -> Result<()> {
        let wanted = |figure| match self.figures.as_slice() {
            [] => figure != Figure::Games || self.games.is_some(),
            named => named.contains(&figure),
        };
        let games = self.games.as_deref().filter(|_| wanted(Figure::Games));
        let is_named = !wanted(Figure::Games) || games.is_some();
        ensure!(is_named, "--figures games: --games names the PGN file");
        std::fs::create_dir_all(&self.out)
            .with_context(|| format!("cannot write '{}'", self.out.display()))?;
        let mut space = self.positions.open_apart()?;
        let count = space.positions.len();
        ensure!(count > LEAST_POSITIONS, "too few positions for a map: {count}");
        let mut trajectories = games.map(read_trajectories).transpose()?.unwrap_or_default();
        if wanted(Figure::Space) || games.is_some() {
            let dim = space.dim();
            let mut embeddings = Vec::with_capacity(count * dim);
            space.for_each_part(|_, _, part| {
                embeddings.extend_from_slice(part);
                Ok(())
            })?;
            for trajectory in &mut trajectories {
                embeddings.extend(trajectory.embed(&mut space)?);
            }
            let cosines = space.weights.axis.cosines(&embeddings);
            let plane = Plane::lay(&embeddings, dim, &cosines, self.projection);
            if wanted(Figure::Space) {
                self.write("space.svg", &picture::space_figure(&space, &plane, &cosines))?;
                let page = picture::space_page(&space, &plane, &cosines, &embeddings)?;
                self.write("space.html", &page)?;
            }
            if games.is_some() {
                let games: Vec<(&str, usize)> =
                    trajectories.iter().map(|game| (&*game.title, game.boards.len())).collect();
                let picture = picture::games_figure(&space, &plane, &cosines, &games);
                self.write("games.svg", &picture)?;
            }
        }
        if wanted(Figure::Mates) {
            let nodes = measures::MATE_NODES;
            let missing = format!("no position of the data has a mate that {nodes} nodes prove");
            match measures::mate_figure(&mut space)? {
                Some(figure) => self.write("mates.svg", &figure)?,
                None if self.figures.is_empty() => {
                    say(format_args!("mates.svg is left out: {missing}"))
                }
                None => bail!("--figures mates: {missing}"),
            }
        }
        if wanted(Figure::Depths) {
            self.write("depths.svg", &measures::depth_figure(&space)?)?;
        }
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.out.join(name);
        replace_file(&path, text.as_bytes())?;
        print_line(path.display())?;
        Ok(())
    }
}

/// Number of games in a figure.
const GAMES: usize = 3;

/// Reads the first games of a file or of a folder of files. Fails if one of them cannot be read.
fn read_trajectories(path: &Path) -> Result<Vec<Trajectory>> {
    let mut read = Vec::new();
    for file in pgn_files(path)? {
        let name = || format!("'{}'", file.display());
        let mut reader = Reader::new(open_text(&file)?);
        while read.len() < GAMES
            && let Some(game) = reader.read_game::<Game>().with_context(name)?
        {
            read.push(Trajectory::of(&game.and_then(Game::complete).with_context(name)?));
        }
    }
    ensure!(!read.is_empty(), "'{}': there is no game in it", path.display());
    Ok(read)
}

/// The positions of a game, in order.
struct Trajectory {
    /// Players and result.
    title: String,
    boards: Vec<Board>,
}

impl Trajectory {
    fn of(game: &Game) -> Self {
        let tag = |name: &'static str| game.tags.known(name).unwrap_or(name);
        let title = format!("{} – {}, {}", tag("White"), tag("Black"), tag("Result"));
        Self { title, boards: boards_of(game) }
    }

    /// The embeddings of the positions, row by row. An encoder with the side to move's perspective
    /// embeds the two sides' positions differently, so only positions with White to move are kept.
    fn embed(&mut self, space: &mut EmbeddedPositions) -> Result<Vec<f32>> {
        if space.weights.metadata.architecture.perspective() == Perspective::SideToMove {
            self.boards.retain(|board| board.side_to_move() == Color::White);
        }
        let inputs = Inputs::of(space.encoder.attributes().input, &self.boards);
        Ok(space.encoder.encode(&inputs)?)
    }
}
