//! The ranks of this process.

use anyhow::Result;

use super::Ranks;

/// The ranks that `mpirun` started; one rank if it did not start this process.
#[cfg(feature = "mpi")]
pub fn join() -> Result<Box<dyn Ranks>> {
    let ranks = super::mpi::Mpi::join()?;
    Ok(if ranks.count() > 1 { Box::new(ranks) } else { Box::new(super::Alone) })
}

/// One rank, because this build has no MPI.
#[cfg(not(feature = "mpi"))]
pub fn join() -> Result<Box<dyn Ranks>> {
    Ok(Box::new(super::Alone))
}
