//! Several campaigns of one experiment: what the next run of it will say.
