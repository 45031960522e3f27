//! What came of a fuzz target.

/// How one target went.
pub struct Fed {
    /// Its name.
    pub target: String,
    /// Inputs tried.
    pub executions: u64,
    /// Coverage reached: edges, as libFuzzer counts them.
    pub edges: u64,
    /// Processor time in seconds, user and system; 0 where the system does not tell.
    pub cpu_s: f64,
    /// What it broke on, if it did: the end of the log.
    pub fault: Option<String>,
}

impl Fed {
    /// The outcome for people.
    pub fn line(&self) -> String {
        let Self { target, executions, edges, cpu_s, fault } = self;
        match fault {
            None => format!(
                "fuzz {target}: {executions} inputs, {edges} edges, {cpu_s:.0} s of the processor, no fault"
            ),
            Some(fault) => format!("fuzz {target}: FAILED after {executions} inputs\n{fault}"),
        }
    }
}
