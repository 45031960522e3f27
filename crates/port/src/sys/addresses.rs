//! The addresses of a network interface (getifaddrs(3)).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

/// The addresses of an interface of the calling thread's namespace, in no order.
pub(crate) fn of(interface: &str) -> io::Result<Vec<IpAddr>> {
    let mut first: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: the call makes a list and stores its head in `first`.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let (mut found, mut entry) = (Vec::new(), first);
    while !entry.is_null() {
        // SAFETY: an entry of the list, which is alive until it is freed below.
        let one = unsafe { &*entry };
        // SAFETY: the name is a string of the list; the address is null or as `address` wants it.
        let (name, address) =
            unsafe { (std::ffi::CStr::from_ptr(one.ifa_name), address(one.ifa_addr)) };
        if name.to_bytes() == interface.as_bytes() {
            found.extend(address);
        }
        entry = one.ifa_next;
    }
    // SAFETY: the list that getifaddrs made, freed once; nothing borrowed from it is left.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

/// # Safety
/// `place` is null, or leads to a socket address as long as its family says.
unsafe fn address(place: *const libc::sockaddr) -> Option<IpAddr> {
    if place.is_null() {
        return None;
    }
    // SAFETY: by the caller; the family says which structure it is.
    unsafe {
        match i32::from((*place).sa_family) {
            libc::AF_INET => {
                let bits = (*place.cast::<libc::sockaddr_in>()).sin_addr.s_addr;
                Some(Ipv4Addr::from_bits(u32::from_be(bits)).into())
            }
            libc::AF_INET6 => {
                let bytes = (*place.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr;
                Some(Ipv6Addr::from(bytes).into())
            }
            _ => None,
        }
    }
}
