//! Sessions in the script of a guest: the tester asks, by a pipe, what only the device outside its jail can
//! say of its table of states or do to it.

use fwdlab_agent::task::{Task, TaskSessions};

use super::rules::Rules;

/// After the script's functions for the table, which differ from filter to filter.
const ANSWERS: &str = r#"# emptied: forgets all states, and says how many are left: none, or no number.
emptied() {
	for n in 1 2 3 4 5; do
		forget >/dev/null 2>&1
		left=$(states)
		[ "$left" -eq 0 ] && { echo 0; return; }
		sleep 1
	done
	echo "not empty: $left"
}
answers() {
	while read ask <&3; do
		case $ask in
		empty) n=$(emptied);;
		count) n=$(states);;
		room) n=$(room);;
		refused) n=$(refused);;
		*) return;;
		esac
		echo $n >&4
	done
}
$G pipes $P/asks $P/answers 2>$P/why || give_up
exec 3<>$P/asks 4<>$P/answers"#;

/// Frames for whose sessions there was no room are told beside the other drops.
pub(super) const DROPS: &str =
    "n=$(($(refused) - u)); [ $n -gt 0 ] && echo \"$n no room to track the session\" >>$P/drops";

/// The functions for the table of states.
pub(super) fn table(rules: Option<Rules>) -> String {
    let [states, forget, room, refused] = rules.map_or(["echo 0"; 4], Rules::states);
    format!(
        "states() {{ {states}; }}\nforget() {{ {forget}; }}\nroom() {{ {room}; }}\n\
         refused() {{ {refused}; }}\n{ANSWERS}"
    )
}

/// Lines that send the sessions and answer what the tester asks meanwhile.
pub(super) fn pass(own: TaskSessions, task: &Task) -> [String; 4] {
    let TaskSessions { measure, lifetime, .. } = own;
    [
        "u=$(refused)".to_owned(),
        format!(
            "jexec tester $G sessions epair0b epair1b $P/frames {measure} {lifetime} {} $khz \
             >$P/device 2>$P/why &",
            task.duration_ns
        ),
        "answers".to_owned(),
        "wait $! || give_up".to_owned(),
    ]
}
