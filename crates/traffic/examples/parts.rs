use fwdlab_port::{Batch, Clock, Pool};
use fwdlab_traffic::*;
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let part = &args[1];
    let turns: usize = args[2].parse()?;
    let only = args.get(3).cloned().unwrap_or_default();
    for (name, s, d) in [
        ("inet-2000", "198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.100:2000"),
        ("inet-1M", "198.18.10.1-198.18.10.20:2000", "198.19.0.1-198.19.195.80:2000"),
        ("inet-10k", "198.18.10.1-198.18.10.20:2000", "198.19.0.1-198.19.1.244:2000"),
        ("inet-200src", "198.18.10.1-198.18.10.200:2000", "198.19.0.1-198.19.19.136:2000"),
        (
            "inet6-10k",
            "[2001:2:0:10::1]-[2001:2:0:10::14]:2000",
            "[2001:2:0:8010::1]-[2001:2:0:8010::1f4]:2000",
        ),
        (
            "inet6-200src",
            "[2001:2:0:10::1]-[2001:2:0:10::c8]:2000",
            "[2001:2:0:8010::1]-[2001:2:0:8010::1388]:2000",
        ),
        (
            "inet6-2000",
            "[2001:2:0:10::1]-[2001:2:0:10::14]:2000",
            "[2001:2:0:8010::1]-[2001:2:0:8010::64]:2000",
        ),
        (
            "inet6-1M",
            "[2001:2:0:10::1]-[2001:2:0:10::14]:2000",
            "[2001:2:0:8010::1]-[2001:2:0:8010::c350]:2000",
        ),
    ] {
        if !only.is_empty() && only != name {
            continue;
        }
        let mut stream = Stream::new(FlowSet::parse(s, d)?);
        let mode = std::env::var("MODE").unwrap_or_default();
        if mode == "random" {
            stream.order = Order::Random;
        }
        if mode == "sizes" {
            stream.sizes = "64, 128, 512".parse().or_else(|_| "imix".parse())?;
        }
        let mut streams = vec![stream.clone()];
        if mode == "mix" {
            streams = vec![
                stream,
                Stream::new(FlowSet::parse(
                    "198.18.9.1-198.18.9.20:2000",
                    "198.19.10.1-198.19.10.100:2000",
                )?),
            ];
        }
        let mut plan = TrafficPlan::new(streams);
        if mode == "latency" {
            plan.latency = true;
            plan.streams[0].sizes = FrameSizes::fixed(128);
        }
        plan.arrival_mac = plan.device_mac;
        plan.hops = 0;
        let frames: usize = std::env::var("FRAMES").map_or(2048, |f| f.parse().unwrap());
        let pool = Pool::with_frames(frames)?;
        let mut sender = Sender::new(&plan, pool.config().headroom)?;
        let mut receiver = Receiver::new(&plan, &sender)?;
        let mut batches = Vec::new();
        for _ in 0..frames / Batch::CAPACITY {
            let mut batch = Batch::new();
            pool.take_batch(&mut batch, Batch::CAPACITY);
            batch.iter_mut().for_each(|frame| sender.adopt(frame));
            batches.push(batch);
        }
        let clock = Clock::new();
        let mut best = [f64::MAX; 2];
        for _ in 0..5 {
            let mut t = [0u64; 2];
            for _ in 0..turns {
                let a = clock.ticks();
                for b in &mut batches {
                    sender.write(b, a);
                }
                let c = clock.ticks();
                if part == "both" {
                    for b in &batches {
                        receiver.check(b, c, |_| {});
                    }
                }
                t[0] += c - a;
                t[1] += clock.ticks() - c;
            }
            for i in 0..2 {
                best[i] = best[i].min(t[i] as f64 * clock.ns_per_tick() / (turns * frames) as f64);
            }
        }
        assert!(receiver.checks().is_clean());
        println!("{name:12} write {:.2} check {:.2} ns", best[0], best[1]);
    }
    Ok(())
}
