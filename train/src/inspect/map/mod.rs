//! `azimuth-train map`: plots of a space (paper, Figures 1 and 3) and of its axis.

mod depths;
mod lines;
mod mates;
mod nearest;
mod page;
mod picture;
mod projection;
mod trajectories;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use azimuth::command_line::print_line;
use clap::{Args, ValueEnum};

use super::positions::PositionsOptions;
use projection::{Plane, Projection};

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
        ensure!(
            !wanted(Figure::Games) || games.is_some(),
            "--figures games: --games names the PGN file"
        );
        std::fs::create_dir_all(&self.out)
            .with_context(|| format!("cannot write '{}'", self.out.display()))?;
        let mut space = self.positions.open_apart()?;
        ensure!(space.len() > LEAST_POSITIONS, "too few positions for a map: {}", space.len());
        let mut trajectories = games.map(trajectories::read).transpose()?.unwrap_or_default();
        if wanted(Figure::Space) || games.is_some() {
            let mut embeddings = Vec::with_capacity(space.len() * space.dim());
            space.for_each_part(|_, _, part| {
                embeddings.extend_from_slice(part);
                Ok(())
            })?;
            let dim = space.dim();
            for trajectory in &mut trajectories {
                embeddings.extend(trajectory.embed(&mut space)?);
            }
            let mut plane = Plane::lay(&embeddings, dim, self.projection);
            let cosines = space.weights.axis.cosines(&embeddings);
            plane.turn_along(&cosines);
            if wanted(Figure::Space) {
                self.write("space.svg", &picture::space(&space, &plane, &cosines))?;
                self.write("space.html", &page::page(&space, &plane, &cosines, &embeddings)?)?;
            }
            if games.is_some() {
                let picture = picture::games(&space, &plane, &cosines, &trajectories);
                self.write("games.svg", &picture)?;
            }
        }
        if wanted(Figure::Mates) {
            let nodes = mates::NODES;
            let missing = format!("no position of the data has a mate that {nodes} nodes prove");
            match mates::figure(&mut space)? {
                Some(figure) => self.write("mates.svg", &figure)?,
                None if self.figures.is_empty() => eprintln!("mates.svg is left out: {missing}"),
                None => bail!("--figures mates: {missing}"),
            }
        }
        if wanted(Figure::Depths) {
            self.write("depths.svg", &depths::figure(&space)?)?;
        }
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.out.join(name);
        azimuth_network::replace_file::replace_file(&path, text.as_bytes())?;
        print_line(path.display())?;
        Ok(())
    }
}
