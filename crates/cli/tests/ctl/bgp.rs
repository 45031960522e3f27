//! Routes by BGP: BIRD or FRR beside the router, and far away.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Lab, wait_until};

/// BIRD in the far namespace announces routes to BIRD beside the router.
#[test]
fn bird_feeds_the_router_by_bgp() {
    if Command::new("bird").arg("--version").output().is_err() {
        eprintln!("SKIPPED bird_feeds_the_router_by_bgp: no bird (apt-get install bird2)");
        return;
    }
    let Some(mut lab) = Lab::new("bird") else { return };
    lab.ip("router", "addr add 198.18.0.1/24 dev r0");
    lab.ip("router", "addr add 198.19.0.1/24 dev r1");
    lab.route("--port r0 --port r1 --kernel-routes");
    let many = 2_000;
    let mut routes = "route 203.0.113.0/24 blackhole;\n".to_owned();
    for i in 1..many {
        routes.push_str(&format!("route 10.{}.{}.0/24 blackhole;\n", i / 256, i % 256));
    }
    let speaker = |id: &str, own: u32, rest: &str| {
        format!(
            "router id {id};\nprotocol device {{}}\n{rest}\nprotocol bgp peer {{\n local as {own};\n"
        )
    };
    let far = speaker("198.19.0.2", 64501, &format!("protocol static {{ ipv4;\n{routes}}}"))
        + "neighbor 198.19.0.1 as 64500;\n ipv4 { export all; import none; next hop self; };\n}\n";
    let own = speaker(
        "198.19.0.1",
        64500,
        "protocol kernel { ipv4 { export all; import none; }; }",
    ) + "neighbor 198.19.0.2 as 64501;\n connect retry time 1; connect delay time 1;\n ipv4 { import all; export none; };\n}\n";
    bird(&mut lab, "router", &own);
    bird(&mut lab, "far", &far);
    // Beside BIRD's there are the two connected networks.
    wait_until("all routes are there", || lab.json("show kernel")["routes"] == many + 2);
    wait_until("all are visible", || lab.json("show kernel")["waiting"] == 0);
    assert!(lab.reaches("203.0.113.7"));
    let shown = lab.json("show route 10.1.1.1");
    assert_eq!(
        (&shown["prefix"], &shown["to"]),
        (&"10.1.1.0/24".into(), &"via 198.19.0.2 port 1".into())
    );
    // The session ends with BIRD on the far side, and its routes go.
    let mut announcer = lab.children.pop().unwrap();
    announcer.kill().unwrap();
    announcer.wait().unwrap();
    lab.ip("far", "link set f0 down");
    lab.ip("router", "link set r1 down");
    lab.ip("router", "link set r1 up");
    wait_until("they are gone", || lab.json("show kernel")["routes"].as_u64() < Some(many));
}

/// FRR in the far namespace announces routes to FRR beside the router: its routes have nexthop objects.
#[test]
fn frr_feeds_the_router_by_bgp() {
    if !Path::new(FRR).join("bgpd").exists() {
        eprintln!("SKIPPED frr_feeds_the_router_by_bgp: no FRR (apt-get install frr)");
        return;
    }
    let Some(mut lab) = Lab::new("frr") else { return };
    lab.ip("router", "addr add 198.18.0.1/24 dev r0");
    lab.ip("router", "addr add 198.19.0.1/24 dev r1");
    lab.route("--port r0 --port r1 --kernel-routes");
    let speaker = |(id, own): (&str, u32), (peer, other): (&str, u32), rest: &str| {
        format!(
            "router bgp {own}\n bgp router-id {id}\n no bgp ebgp-requires-policy\n \
             no bgp network import-check\n neighbor {peer} remote-as {other}\n \
             neighbor {peer} timers connect 1\n{rest}"
        )
    };
    let many = 500;
    let networks: String =
        (1..many).map(|i| format!("  network 10.{}.{}.0/24\n", i / 256, i % 256)).collect();
    let announced = format!(
        " address-family ipv4 unicast\n  network 203.0.113.0/24\n{networks} exit-address-family\n"
    );
    let (own, far) = (("198.19.0.1", 64500), ("198.19.0.2", 64501));
    frr(&mut lab, "router", &speaker(own, far, ""));
    frr(&mut lab, "far", &speaker(far, own, &announced));
    // Beside FRR's there are the two connected networks.
    wait_until("all routes are there", || lab.json("show kernel")["routes"] == many + 2);
    wait_until("all are visible", || lab.json("show kernel")["waiting"] == 0);
    assert!(lab.reaches("203.0.113.7"));
    assert_eq!(lab.json("show route 10.1.1.1")["to"], "via 198.19.0.2 port 1");
    // The far bgpd, started last, ends, and with it the session.
    let mut announcer = lab.children.pop().unwrap();
    announcer.kill().unwrap();
    announcer.wait().unwrap();
    wait_until("they are gone", || lab.json("show kernel")["routes"].as_u64() < Some(many));
}

/// Where Debian keeps FRR's daemons.
const FRR: &str = "/usr/lib/frr";

/// Starts FRR's zebra and bgpd, which give up root's rights for a user of their own.
fn frr(lab: &mut Lab, end: &str, config: &str) {
    let all = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(lab.dir.path(), all.clone()).unwrap();
    let dir = lab.dir.path().join(end);
    std::fs::create_dir(&dir).unwrap();
    std::fs::set_permissions(&dir, all).unwrap();
    std::fs::write(dir.join("bgpd.conf"), config).unwrap();
    std::fs::write(dir.join("zebra.conf"), "").unwrap();
    for daemon in ["zebra", "bgpd"] {
        let mut command = lab.inside(end, &format!("{FRR}/{daemon}"));
        command.arg("-f").arg(dir.join(format!("{daemon}.conf")));
        command.arg("-i").arg(dir.join(format!("{daemon}.pid")));
        command.arg("-z").arg(dir.join("zserv")).arg("--vty_socket").arg(&dir).args(["-P", "0"]);
        let log = std::fs::File::create(dir.join(format!("{daemon}.log"))).unwrap();
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        lab.children.push(child);
        wait_until(&format!("{daemon} runs"), || dir.join(format!("{daemon}.vty")).exists());
    }
}

fn bird(lab: &mut Lab, end: &str, config: &str) {
    let file = lab.dir.path().join(format!("{end}.conf"));
    std::fs::write(&file, config).unwrap();
    let control = lab.dir.path().join(format!("{end}.ctl"));
    let child = lab
        .inside(end, "bird")
        .args(["-f", "-c"])
        .arg(&file)
        .arg("-s")
        .arg(&control)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    lab.children.push(child);
}
