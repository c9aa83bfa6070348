//! What the sparse encoder sees: every piece on its square, told apart by what attacks and defends it
//! and more (see [`FeatureSet`]), seen once by the side to move and once by the other side, each with
//! its own first rank at the bottom.

mod attacks;
mod exchange;
mod set;
mod states;

use cozy_chess::{BitBoard, Board, Color, File, Piece, Rank, Square, get_king_moves};

use attacks::Attacks;
use exchange::Exchanges;
pub use set::{CAPTURES, FeatureSet, GAINS, KingView, PIECE_SQUARES, States};
use states::{ExchangeStates, attack_state};

/// The pieces of a position and whose move it is: all that the features depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Pieces by colour.
    pub colors: [BitBoard; Color::NUM],
    /// Pieces by kind.
    pub pieces: [BitBoard; Piece::NUM],
    /// Whose move it is.
    pub side_to_move: Color,
}

impl Placement {
    /// The placement on `board`.
    pub fn of(board: &Board) -> Self {
        Self {
            colors: Color::ALL.map(|color| board.colors(color)),
            pieces: Piece::ALL.map(|piece| board.pieces(piece)),
            side_to_move: board.side_to_move(),
        }
    }

    /// The same position with the a-file and the h-file exchanged, and so on.
    pub fn mirrored(self) -> Self {
        Self {
            colors: self.colors.map(BitBoard::flip_files),
            pieces: self.pieces.map(BitBoard::flip_files),
            side_to_move: self.side_to_move,
        }
    }
}

/// The active rows of one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features<'a> {
    /// Rows seen by the side to move.
    pub own: &'a [u16],
    /// Rows seen by the other side, as many.
    pub other: &'a [u16],
    /// Pieces on the board.
    pub pieces: usize,
}

/// The active rows of many positions.
#[derive(Clone, Debug)]
pub struct FeatureBatch {
    set: FeatureSet,
    rows: Vec<u16>,
    /// Where the rows of each position end, and its pieces.
    ends: Vec<(u32, u8)>,
    /// The other side's rows while a position is added.
    other: Vec<u16>,
}

impl FeatureBatch {
    /// An empty batch of a set's features.
    pub fn new(set: FeatureSet) -> Self {
        Self { set, rows: Vec::new(), ends: Vec::new(), other: Vec::new() }
    }

    /// The set that the features are of.
    pub fn set(&self) -> FeatureSet {
        self.set
    }

    /// Positions in the batch.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
    }

    /// The features of every position in turn.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Features<'_>> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, pieces)| {
            let rows = &self.rows[start..end as usize];
            start = end as usize;
            let (own, other) = rows.split_at(rows.len() / 2);
            Features { own, other, pieces: pieces.into() }
        })
    }

    /// Every active row of every position, in any order, repeated where it occurs again.
    pub fn rows(&self) -> &[u16] {
        &self.rows
    }

    /// Adds the positions `range` of `other`, which is of the same set.
    pub fn extend(&mut self, other: &Self, range: std::ops::Range<usize>) {
        let end_of = |index: usize| index.checked_sub(1).map_or(0, |last| other.ends[last].0);
        let (first, last) = (end_of(range.start), end_of(range.end));
        let shift = self.rows.len() as u32;
        self.rows.extend_from_slice(&other.rows[first as usize..last as usize]);
        let ends = other.ends[range].iter().map(|&(end, pieces)| (end - first + shift, pieces));
        self.ends.extend(ends);
    }

    /// Adds a legal position.
    pub fn push(&mut self, placement: &Placement) {
        let set = self.set;
        let attacks = Attacks::of(placement);
        let exchanges =
            (set.states == States::Exchange || set.threats).then(|| Exchanges::new(placement));
        let pinned = exchanges.as_ref().map_or(BitBoard::EMPTY, |exchanges| exchanges.pinned);
        let us = placement.side_to_move;
        let views = [us, !us].map(|color| View::new(set.king, placement, color));
        let mut threats = [[0; 2]; Color::NUM];
        self.other.clear();
        for color in Color::ALL {
            let theirs = usize::from(color != us);
            let states = ExchangeStates::new(placement, &attacks, pinned, color);
            for piece in Piece::ALL {
                for square in placement.pieces[piece as usize] & placement.colors[color as usize] {
                    let attacked = attacks.by(!color).any.has(square);
                    let gain = exchanges.as_ref().filter(|_| attacked);
                    let gain = gain.and_then(|exchanges| exchanges.gain(square, piece, color));
                    let state = match set.states {
                        States::PieceSquare => 0,
                        States::Attack => attack_state(&attacks, piece, square, color),
                        States::Exchange => states.of(piece, square, gain),
                    };
                    self.rows.push(views[0].piece(set, state, theirs, piece, square));
                    self.other.push(views[1].piece(set, state, 1 - theirs, piece, square));
                    if set.captures {
                        self.push_captures(placement, &attacks, &views, color, piece, square);
                    }
                    add_threat(&mut threats[!color as usize], gain.unwrap_or(0));
                }
            }
        }
        if set.threats {
            let shut_in = [us, !us].map(|color| checks_step(placement, &attacks, color));
            self.push_threats(threats[us as usize], threats[!us as usize], shut_in);
        }
        self.rows.extend_from_slice(&self.other);
        let pieces = (placement.colors[0] | placement.colors[1]).len();
        self.ends.push((self.rows.len() as u32, pieces as u8));
    }

    /// The two best exchanges of the side to move and of the other, and the steps of their checks.
    fn push_threats(&mut self, ours: [i32; 2], theirs: [i32; 2], checks: [usize; 2]) {
        let pair = |a: usize, b: usize| a * GAINS + b;
        let [best, next] = [(ours[0], theirs[0]), (theirs[0], theirs[1])]
            .map(|(a, b)| pair(gain_step(a), gain_step(b)));
        for (index, threat) in [best, next, pair(checks[0], checks[1])].into_iter().enumerate() {
            let row =
                |view: usize| self.set.threat_row((2 * index + view) * GAINS * GAINS + threat);
            let (own, other) = (row(0), row(1));
            self.rows.push(own as u16);
            self.other.push(other as u16);
        }
    }

    /// What the `piece` of `color` on `square` attacks.
    fn push_captures(
        &mut self,
        placement: &Placement,
        attacks: &Attacks,
        views: &[View; 2],
        color: Color,
        piece: Piece,
        square: Square,
    ) {
        let theirs = usize::from(color != placement.side_to_move);
        for attacked in attacks.from[square as usize] & placement.colors[!color as usize] {
            let victim = Piece::ALL
                .into_iter()
                .find(|&victim| placement.pieces[victim as usize].has(attacked))
                .unwrap_or(Piece::King);
            self.rows.push(views[0].capture(self.set, theirs, piece, victim, attacked));
            self.other.push(views[1].capture(self.set, 1 - theirs, piece, victim, attacked));
        }
    }
}

/// The board as one side sees it.
struct View {
    /// Exchanges ranks, and files where the king's side asks for it.
    flip: usize,
    bucket: usize,
}

impl View {
    fn new(king_view: KingView, placement: &Placement, color: Color) -> Self {
        let ranks = if color == Color::White { 0 } else { 56 };
        let king = placement.pieces[Piece::King as usize] & placement.colors[color as usize];
        let king = king.next_square().unwrap_or(Square::A1);
        let files = if king_view != KingView::None && king.file() > File::D { 7 } else { 0 };
        let bucket = match (king_view, king.rank().relative_to(color)) {
            (KingView::None | KingView::Mirror, _) => 0,
            (KingView::Buckets, Rank::First) => {
                usize::from((File::C..=File::F).contains(&king.file()))
            }
            (KingView::Buckets, Rank::Second) => 2,
            (KingView::Buckets, _) => 3,
        };
        Self { flip: ranks ^ files, bucket }
    }

    fn piece(
        &self,
        set: FeatureSet,
        state: usize,
        theirs: usize,
        piece: Piece,
        square: Square,
    ) -> u16 {
        let kind = theirs * Piece::NUM + piece as usize;
        set.piece_row(self.bucket, state, kind * 64 + (square as usize ^ self.flip)) as u16
    }

    fn capture(
        &self,
        set: FeatureSet,
        theirs: usize,
        piece: Piece,
        victim: Piece,
        square: Square,
    ) -> u16 {
        let pair = (theirs * Piece::NUM + piece as usize) * Piece::NUM + victim as usize;
        set.capture_row(pair * 64 + (square as usize ^ self.flip)) as u16
    }
}

/// Keeps the two largest gains.
fn add_threat(best: &mut [i32; 2], gain: i32) {
    if gain > best[0] {
        *best = [gain, best[0]];
    } else if gain > best[1] {
        best[1] = gain;
    }
}

/// Steps of a gain: nothing, 1, 2, 3, 4, up to 6, up to 9, check.
fn gain_step(gain: i32) -> usize {
    match gain {
        ..=0 => 0,
        1..=4 => gain as usize,
        5..=6 => 5,
        7..=9 => 6,
        _ => GAINS - 1,
    }
}

/// Steps of the checks that `color` can give on squares that the other side does not attack: none, 1,
/// 2, more, and the same where the other king has no free square.
fn checks_step(placement: &Placement, attacks: &Attacks, color: Color) -> usize {
    let (theirs, occupied) =
        (placement.colors[!color as usize], placement.colors[0] | placement.colors[1]);
    let king = placement.pieces[Piece::King as usize] & theirs;
    let king = king.next_square().unwrap_or(Square::A1);
    let shunned = attacks.by(!color).any | placement.colors[color as usize];
    let checks = attacks.by(color).checks(king, occupied, shunned).min(3) as usize;
    let shut_in = (get_king_moves(king) & !theirs & !attacks.by(color).any).is_empty();
    checks + if shut_in { GAINS / 2 } else { 0 }
}
