//! The fit of [`WdlModel`] to the games in `bench/results`, as `azimuth-bench wdl` prints it.

use super::wdl::WdlModel;

/// Of the beam with verification.
pub(super) const BEAM: WdlModel = WdlModel {
    even: [21.33, 679.35, -1223.17, 573.15],
    width: [-212.62, 1317.74, -1854.42, 817.99],
};

/// Of the selective search.
pub(super) const SELECTIVE: WdlModel = WdlModel {
    even: [1552.79, -4964.77, 5509.25, -1947.48],
    width: [700.95, -2303.56, 2612.9, -926.37],
};
