//! From what is there to what is wanted: a list of actions, found without touching anything.
//!
//! An action needs no undo of its own: whatever was done is taken back by the actions that lead
//! from what is there now to what was there before.

use std::sync::Arc;

use super::model::{Cable, Namespace, Neighbour, StaticRoute, Topology};
use super::sysctl;

/// One step from a topology to another. `role` is that of the namespace concerned.
#[allow(missing_docs)] // the fields say what they are
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Make an empty namespace.
    AddNamespace { role: String },
    /// Remove a namespace with everything in it and every cable into it.
    RemoveNamespace { role: String },
    /// Make a cable, give both ends their addresses and put them into service.
    AddCable(Cable),
    /// Remove a cable.
    RemoveCable(Cable),
    /// Set a sysctl.
    SetSysctl { role: String, name: String, value: String },
    /// Give a sysctl the value that it had before it was first set.
    ResetSysctl { role: String, name: String },
    /// Add a permanent neighbour.
    AddNeighbour { role: String, neighbour: Neighbour },
    /// Remove a neighbour.
    RemoveNeighbour { role: String, neighbour: Neighbour },
    /// Add routes, in ascending order.
    AddRoutes { role: String, routes: Arc<Vec<StaticRoute>> },
    /// Remove routes, in ascending order.
    RemoveRoutes { role: String, routes: Arc<Vec<StaticRoute>> },
    /// Put a rule set in the place of the present one.
    SetRules { role: String, rules: String },
    /// Remove all rules.
    ClearRules { role: String },
}

/// More routes than these are not removed one by one, which takes 8 us each: their namespace is made
/// anew.
pub(super) const MOST_REMOVED: usize = 20_000;

/// What leads from `present` to `wanted`, in an order that works: what depends on something is
/// removed before it and added after it.
pub fn actions(present: &Topology, wanted: &Topology) -> Vec<Action> {
    let without = without_full(present, wanted);
    if without.namespaces.len() < present.namespaces.len() {
        return [steps(present, &without), steps(&without, wanted)].concat();
    }
    steps(present, wanted)
}

/// `present` without the namespaces that would lose more than [`MOST_REMOVED`] routes.
fn without_full(present: &Topology, wanted: &Topology) -> Topology {
    let mut without = present.clone();
    for (role, before) in &present.namespaces {
        let is_full = before.routes.len() > MOST_REMOVED;
        let Some(after) = wanted.namespaces.get(role).filter(|_| is_full) else { continue };
        let lost = match is_rewired(role, present, wanted) {
            true => before.routes.len(),
            false => difference(&before.routes, &after.routes).len(),
        };
        if lost > MOST_REMOVED {
            without.after(&Action::RemoveNamespace { role: role.clone() });
        }
    }
    without
}

fn steps(present: &Topology, wanted: &Topology) -> Vec<Action> {
    let mut list = Vec::new();
    let kept = |role: &String| wanted.namespaces.contains_key(role);
    for (role, before) in present.namespaces.iter().filter(|(role, _)| kept(role)) {
        let is_rewired = is_rewired(role, present, wanted);
        strip(role, before, &wanted.namespaces[role], is_rewired, &mut list);
    }
    for cable in &present.cables {
        // The kernel removes a namespace later; an end in another one must be gone at once.
        let survives = cable.ends.iter().any(|end| kept(&end.namespace));
        if survives && !wanted.cables.contains(cable) {
            list.push(Action::RemoveCable(cable.clone()));
        }
    }
    let gone = present.namespaces.keys().filter(|role| !kept(role));
    list.extend(gone.map(|role| Action::RemoveNamespace { role: role.clone() }));
    let new = wanted.namespaces.keys().filter(|role| !present.namespaces.contains_key(*role));
    list.extend(new.map(|role| Action::AddNamespace { role: role.clone() }));
    for (role, after) in &wanted.namespaces {
        sysctls(role, present, after, is_rewired(role, present, wanted), false, &mut list);
    }
    let cables = wanted.cables.iter().filter(|cable| !present.cables.contains(cable));
    list.extend(cables.cloned().map(Action::AddCable));
    for (role, after) in &wanted.namespaces {
        furnish(role, present, after, is_rewired(role, present, wanted), &mut list);
    }
    list
}

/// Whether a cable of this namespace comes or goes, and with it all that hangs on an interface.
fn is_rewired(role: &str, present: &Topology, wanted: &Topology) -> bool {
    let lost = |a: &Topology, b: &Topology| {
        a.cables.iter().any(|cable| cable.touches(role) && !b.cables.contains(cable))
    };
    lost(present, wanted) || lost(wanted, present)
}

/// Removes from a namespace that stays what is not wanted any more.
fn strip(
    role: &str,
    before: &Namespace,
    after: &Namespace,
    is_rewired: bool,
    list: &mut Vec<Action>,
) {
    let role = || role.to_owned();
    if before.rules.is_some() && after.rules.is_none() {
        list.push(Action::ClearRules { role: role() });
    }
    let routes = match is_rewired {
        true => before.routes.clone(),
        false => difference(&before.routes, &after.routes),
    };
    if !routes.is_empty() {
        list.push(Action::RemoveRoutes { role: role(), routes });
    }
    for neighbour in &before.neighbours {
        if is_rewired || !after.neighbours.contains(neighbour) {
            let neighbour = neighbour.clone();
            list.push(Action::RemoveNeighbour { role: role(), neighbour });
        }
    }
    for name in before.sysctls.keys() {
        let is_lost = is_rewired && sysctl::names_interface(name);
        if is_lost || !after.sysctls.contains_key(name) {
            list.push(Action::ResetSysctl { role: role(), name: name.clone() });
        }
    }
}

/// Adds to a namespace what hangs on its interfaces, and its rules.
fn furnish(
    role: &str,
    present: &Topology,
    after: &Namespace,
    is_rewired: bool,
    list: &mut Vec<Action>,
) {
    sysctls(role, present, after, is_rewired, true, list);
    let nothing = Namespace::default();
    let before = present.namespaces.get(role).unwrap_or(&nothing);
    for neighbour in &after.neighbours {
        if is_rewired || !before.neighbours.contains(neighbour) {
            let neighbour = neighbour.clone();
            list.push(Action::AddNeighbour { role: role.to_owned(), neighbour });
        }
    }
    let routes = match is_rewired {
        true => after.routes.clone(),
        false => difference(&after.routes, &before.routes),
    };
    if !routes.is_empty() {
        list.push(Action::AddRoutes { role: role.to_owned(), routes });
    }
    match &after.rules {
        Some(rules) if before.rules != after.rules => {
            list.push(Action::SetRules { role: role.to_owned(), rules: rules.clone() });
        }
        _ => {}
    }
}

/// Sets the sysctls that have another value, either those of interfaces or all others.
fn sysctls(
    role: &str,
    present: &Topology,
    after: &Namespace,
    is_rewired: bool,
    of_interfaces: bool,
    list: &mut Vec<Action>,
) {
    let before = present.namespaces.get(role).map(|namespace| &namespace.sysctls);
    for (name, value) in &after.sysctls {
        if sysctl::names_interface(name) != of_interfaces {
            continue;
        }
        let is_set = before.and_then(|sysctls| sysctls.get(name)) == Some(value);
        if !is_set || (of_interfaces && is_rewired) {
            let (name, value) = (name.clone(), value.clone());
            list.push(Action::SetSysctl { role: role.to_owned(), name, value });
        }
    }
}

/// The routes of `a` that are not in `b`; both ascend.
fn difference(a: &Arc<Vec<StaticRoute>>, b: &Arc<Vec<StaticRoute>>) -> Arc<Vec<StaticRoute>> {
    if Arc::ptr_eq(a, b) {
        return Arc::default();
    }
    if b.is_empty() {
        return a.clone();
    }
    let mut others = b.iter().peekable();
    let is_missing = |route: &&StaticRoute| {
        while others.next_if(|other| other < route).is_some() {}
        others.peek() != Some(route)
    };
    Arc::new(a.iter().filter(is_missing).copied().collect())
}

impl Topology {
    /// What this topology is after an action.
    pub(super) fn after(&mut self, action: &Action) {
        match action {
            Action::AddNamespace { role } => {
                self.namespaces.insert(role.clone(), Namespace::default());
            }
            Action::RemoveNamespace { role } => {
                self.namespaces.remove(role);
                self.cables.retain(|cable| !cable.touches(role));
            }
            Action::AddCable(cable) => self.cables.push(cable.clone()),
            Action::RemoveCable(cable) => self.cables.retain(|other| other != cable),
            Action::SetSysctl { role, name, value } => {
                self.namespace(role).sysctls.insert(name.clone(), value.clone());
            }
            Action::ResetSysctl { role, name } => {
                self.namespace(role).sysctls.remove(name);
            }
            Action::AddNeighbour { role, neighbour } => {
                self.namespace(role).neighbours.insert(neighbour.clone());
            }
            Action::RemoveNeighbour { role, neighbour } => {
                self.namespace(role).neighbours.remove(neighbour);
            }
            Action::AddRoutes { role, routes } => {
                let present = &mut self.namespace(role).routes;
                *present = if present.is_empty() { routes.clone() } else { union(present, routes) };
            }
            Action::RemoveRoutes { role, routes } => {
                let present = &mut self.namespace(role).routes;
                *present = difference(present, routes);
            }
            Action::SetRules { role, rules } => self.namespace(role).rules = Some(rules.clone()),
            Action::ClearRules { role } => self.namespace(role).rules = None,
        }
    }
}

fn union(a: &[StaticRoute], b: &[StaticRoute]) -> Arc<Vec<StaticRoute>> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    Arc::new(all)
}
