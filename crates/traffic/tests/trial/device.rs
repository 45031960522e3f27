//! A device that forwards one batch whenever the time is asked, and has a fault.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use fwdlab_port::{Batch, Frame, Pool, Port, ring::RingPort};
use fwdlab_traffic::TimeSource;
use fwdlab_wire::checksum::update_u16;

/// What is wrong with the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    None,
    DropEvery(u64),
    DuplicateEvery(u64),
    SwapEvery(u64),
    KeepTtl,
    WrongMac,
    WrongChecksum,
    WrongLength,
    DamagePayload,
    /// The checksum stays right.
    ChangePayloadEvery(u64),
    /// Behind the first 64 bytes.
    ChangePayloadBehindEvery(u64),
    SendBackEvery(u64),
    ChangeDestinationEvery(u64),
    ArpEvery(u64),
    /// Holds each frame for so many steps.
    Delay(usize),
}

/// The tester's port on one side of two devices: it sends to one and receives from the other.
pub struct Side {
    pub out: RingPort,
    pub back: RingPort,
}

impl Port for Side {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        // What came back to its senders lies with what they sent.
        self.back.receive(batch) + self.out.receive(batch)
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        self.out.send(batch)
    }

    fn mac(&self) -> fwdlab_wire::MacAddr {
        self.out.mac()
    }

    fn mtu(&self) -> usize {
        self.out.mtu()
    }

    fn counters(&self) -> fwdlab_port::Counters {
        self.out.counters()
    }
}

pub struct StepDevice {
    input: RingPort,
    output: RingPort,
    pool: Pool,
    fault: Fault,
    seen: u64,
    pub dropped: u64,
    held: VecDeque<(usize, Frame)>,
    step: usize,
    back: Batch,
}

impl StepDevice {
    pub fn new(input: RingPort, output: RingPort, pool: Pool, fault: Fault) -> Self {
        let (held, back) = (VecDeque::new(), Batch::new());
        Self { input, output, pool, fault, seen: 0, dropped: 0, held, step: 0, back }
    }

    fn step(&mut self) {
        self.step += 1;
        if self.held.len() < 64 {
            let mut batch = Batch::new();
            self.input.receive(&mut batch);
            for frame in batch.drain() {
                self.forward(frame);
            }
        }
        let delay = if let Fault::Delay(steps) = self.fault { steps } else { 0 };
        let mut out = Batch::new();
        while let Some((since, _)) = self.held.front() {
            if since + delay > self.step || out.is_full() {
                break;
            }
            let Some((_, frame)) = self.held.pop_front() else { break };
            out.push(frame).unwrap();
        }
        self.output.send(&mut out);
        while let Some(frame) = out.pop() {
            self.held.push_front((0, frame));
        }
        self.input.send(&mut self.back);
    }

    fn forward(&mut self, mut frame: Frame) {
        self.seen += 1;
        let hit = |every| self.seen.is_multiple_of(every);
        route(&mut frame);
        let is_inet = frame[12] == 0x08;
        match self.fault {
            Fault::DropEvery(every) if hit(every) => {
                self.dropped += 1;
                return;
            }
            Fault::DuplicateEvery(every) if hit(every) => {
                if let Some(mut copy) = self.pool.take() {
                    copy.set_len(frame.len());
                    copy.copy_from_slice(&frame);
                    self.held.push_back((self.step, copy));
                }
            }
            Fault::SwapEvery(every) if hit(every) => {
                if let Some((_, previous)) = self.held.pop_back() {
                    self.held.push_back((self.step, frame));
                    frame = previous;
                }
            }
            Fault::KeepTtl if is_inet => {
                frame[22] += 1;
                let sum = u16::from_be_bytes([frame[24], frame[25]]);
                frame[24..26].copy_from_slice(&update_u16(sum, 0x0000, 0x0100).to_be_bytes());
            }
            Fault::KeepTtl => frame[21] += 1,
            Fault::WrongMac => frame[5] = 9,
            Fault::WrongChecksum => frame[25] ^= 1,
            Fault::WrongLength => frame[if is_inet { 17 } else { 19 }] ^= 2,
            Fault::DamagePayload => {
                let last = frame.len() - 1;
                frame[last] = !(last as u8);
            }
            Fault::ChangePayloadEvery(every) if hit(every) => {
                frame[47] += 1;
                frame[49] -= 1;
            }
            Fault::ChangePayloadBehindEvery(every) if hit(every) => frame[100] ^= 0xff,
            Fault::SendBackEvery(every) if hit(every) => {
                self.dropped += 1;
                self.back.push(frame).unwrap();
                return;
            }
            Fault::ChangeDestinationEvery(every) if hit(every) => {
                self.dropped += 1;
                // The source changes against it, which keeps the checksum right.
                frame[31] += 1;
                frame[29] -= 1;
            }
            Fault::ArpEvery(every) if hit(every) => {
                self.dropped += 1;
                frame[12..14].copy_from_slice(&[0x08, 0x06]);
            }
            _ => {}
        }
        self.held.push_back((self.step, frame));
    }
}

/// What a right router does with a test frame.
fn route(frame: &mut Frame) {
    frame[0..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    if frame[12] == 0x08 {
        frame[22] -= 1;
        let sum = u16::from_be_bytes([frame[24], frame[25]]);
        frame[24..26].copy_from_slice(&update_u16(sum, 0x0100, 0x0000).to_be_bytes());
    } else {
        frame[21] -= 1;
    }
}

/// Each reading of the time is one step of the device and 100 ns later than the one before.
pub struct SteppedTime {
    devices: Vec<Rc<RefCell<StepDevice>>>,
    now: u64,
}

impl SteppedTime {
    pub fn new(device: Rc<RefCell<StepDevice>>) -> Self {
        Self::of(vec![device])
    }

    pub fn of(devices: Vec<Rc<RefCell<StepDevice>>>) -> Self {
        Self { devices, now: 1_000_000 }
    }
}

impl TimeSource for SteppedTime {
    fn ticks(&mut self) -> u64 {
        self.devices.iter().for_each(|device| device.borrow_mut().step());
        self.now += 100;
        self.now
    }

    fn ns_per_tick(&self) -> f64 {
        1.0
    }
}
