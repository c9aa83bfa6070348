//! The fit of [`WdlModel`] to the games in `bench/results`, as `azimuth-bench wdl` prints it.

use super::wdl::WdlModel;

/// Of the beam with verification.
pub(super) const BEAM: WdlModel = WdlModel {
    even: [819.11, -2347.25, 2409.65, -805.69],
    width: [545.53, -1637.95, 1829.55, -630.8],
};

/// Of the selective search.
pub(super) const SELECTIVE: WdlModel = WdlModel {
    even: [508.15, -1325.12, 1404.08, -483.43],
    width: [178.67, -457.39, 531.76, -185.31],
};
