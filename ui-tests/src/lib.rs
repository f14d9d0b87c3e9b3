//! What authors see: `fail` holds every mistake the macros report, `pass` every form they accept.
