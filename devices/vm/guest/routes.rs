//! `routes FILE`: writes routes into the kernel's table. The file holds records of 36 bytes: the
//! family (4 or 6), the prefix's length, two bytes of nothing, destination and gateway in 16 bytes
//! each. Says how many there are.

use crate::say;
use crate::sys::{self, Arguments, OUTPUT};
use crate::text::{Done, Problem, Text};

const RECORD: usize = 36;
const MOST: usize = 128 << 20;

/// So many routes are a step of progress: a kernel whose lookup structure is built anew again and
/// again takes minutes for a full table.
const STEP: usize = 25_000;

/// `struct rt_msghdr` without its metrics, which stay zero.
const HEADER: usize = 152;
const VERSION: u8 = 5;
const ADD: u8 = 1;
const DESTINATION_GATEWAY_NETMASK: u32 = 7;
const UP_GATEWAY_STATIC: u32 = 0x803;
const THERE_ALREADY: u32 = 17;

pub fn run(arguments: &Arguments) -> Done {
    let records =
        sys::whole(arguments.get(2), MOST).map_err(Problem::with("cannot read the routes"))?;
    let socket = sys::routing_socket().map_err(Problem::with("no routing socket"))?;
    let mut message = [0_u8; HEADER + 96];
    let (mut added, mut there) = (0, 0);
    for (number, record) in records.chunks_exact(RECORD).enumerate() {
        if number % STEP == STEP - 1 {
            say::stage(b"wrote routes")?;
        }
        let length = write(record, number as u32, &mut message);
        match socket.write(&message[..length]) {
            Ok(_) => added += 1,
            Err(errno) if errno.0 == THERE_ALREADY => there += 1,
            Err(errno) => return Err(Problem::with("the kernel refuses a route")(errno)),
        }
    }
    let mut text = Text::with_room(256).map_err(Problem::with("no memory"))?;
    text.number(added).put(b" routes");
    if there > 0 {
        text.put(b", ").number(there).put(b" more were there already");
    }
    text.put(b"\n");
    OUTPUT.write_all(text.bytes()).map_err(Problem::with("cannot write"))
}

/// One message; returns its length.
fn write(record: &[u8], number: u32, message: &mut [u8; HEADER + 96]) -> usize {
    let is_ipv4 = record[0] == 4;
    let prefix_length = usize::from(record[1]);
    // An address with its length, family, and place in `struct sockaddr_in` or `sockaddr_in6`.
    let (size, room, family, at, octets): (u8, usize, u8, usize, usize) =
        if is_ipv4 { (16, 16, 2, 4, 4) } else { (28, 32, 28, 8, 16) };
    message.fill(0);
    let length = HEADER + 3 * room;
    message[..2].copy_from_slice(&(length as u16).to_le_bytes());
    message[2] = VERSION;
    message[3] = ADD;
    message[8..12].copy_from_slice(&UP_GATEWAY_STATIC.to_le_bytes());
    message[12..16].copy_from_slice(&DESTINATION_GATEWAY_NETMASK.to_le_bytes());
    message[20..24].copy_from_slice(&(number + 1).to_le_bytes());
    let mut mask = [0_u8; 16];
    for bit in 0..prefix_length.min(8 * octets) {
        mask[bit / 8] |= 0x80 >> (bit % 8);
    }
    let addresses: [&[u8]; 3] = [&record[4..20], &record[20..36], &mask];
    for (index, address) in addresses.iter().enumerate() {
        let place = HEADER + index * room;
        message[place] = size;
        message[place + 1] = family;
        message[place + at..place + at + octets].copy_from_slice(&address[..octets]);
    }
    length
}
