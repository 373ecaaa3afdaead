//! Sockets: none but a role's own channel, when the model is part of the program.

use super::short::*;

pub(super) const PROBES: &[Probe] = &[
    probe!("a TCP socket", [SYS_socket, n!(AF_INET), n!(SOCK_STREAM), N(0)]; NOBODY),
    probe!("a TCP socket of version 6", [SYS_socket, n!(AF_INET6), n!(SOCK_STREAM), N(0)]; NOBODY),
    probe!("a TCP socket of many paths", [SYS_socket, n!(AF_INET), n!(SOCK_STREAM), n!(IPPROTO_MPTCP)]; NOBODY),
    probe!("a UDP socket", [SYS_socket, n!(AF_INET), n!(SOCK_DGRAM), N(0)]; NOBODY),
    probe!("a raw socket", [SYS_socket, n!(AF_INET), n!(SOCK_RAW), n!(IPPROTO_ICMP)]; NOBODY),
    probe!("a Unix socket", [SYS_socket, n!(AF_UNIX), n!(SOCK_STREAM), N(0)]; NOBODY),
    probe!("a socket to the kernel", [SYS_socket, n!(AF_NETLINK), n!(SOCK_RAW), N(0)]; NOBODY),
    probe!("a socket of packets", [SYS_socket, n!(AF_PACKET), n!(SOCK_RAW), N(0)]; NOBODY),
    probe!("a socket to the host", [SYS_socket, n!(AF_VSOCK), n!(SOCK_STREAM), N(0)]; NOBODY),
    probe!("a socket of ciphers", [SYS_socket, n!(AF_ALG), n!(SOCK_SEQPACKET), N(0)]; NOBODY),
    probe!(
        "connect elsewhere",
        [SYS_socket, n!(AF_INET), n!(SOCK_STREAM), N(0)],
        [SYS_connect, Answer(0), Bytes(LOOPBACK), N(16)];
        NOBODY
    ),
    probe!(
        "bind",
        [SYS_socket, n!(AF_INET), n!(SOCK_STREAM), N(0)],
        [SYS_bind, Answer(0), Bytes(LOOPBACK), N(16)];
        NOBODY
    ),
    probe!("listen", [SYS_listen, N(3), N(1)]; NOBODY),
    probe!("accept", [SYS_accept4, N(3), N(0), N(0), N(0)]; NOBODY),
    probe!("connect while sending", [SYS_sendto, N(3), Space, N(0), n!(MSG_FASTOPEN), Bytes(LOOPBACK), N(16)]; NOBODY),
    probe!("send to an address", [SYS_sendto, N(3), Space, N(0), N(0), Bytes(LOOPBACK), N(16)]; NOBODY),
    probe!("connect while sending by the longer call", [SYS_sendmsg, N(3), Space, n!(MSG_FASTOPEN)]; NOBODY),
    probe!("many messages at once", [SYS_sendmmsg, N(3), Space, N(0), N(0)]; NOBODY),
    probe!("a filter on a socket", [SYS_setsockopt, N(3), n!(SOL_SOCKET), n!(SO_ATTACH_FILTER), Space, N(16)]; NOBODY),
    probe!("about the network", [SYS_ioctl, N(3), n!(SIOCGIFCONF), Space]; NOBODY),
    // The channel of a new role, and nothing like it.
    probe!("a pair of other sockets", [SYS_socketpair, n!(AF_UNIX), n!(SOCK_DGRAM), N(0), Space]; NOBODY),
    probe!(
        "a pair of sockets",
        [SYS_socketpair, n!(AF_UNIX), n!(SOCK_STREAM | SOCK_CLOEXEC), N(0), Space];
        [W, K, K, K]
    ),
    probe!("last words", [SYS_write, N(2), Space, N(0)]; [W, W, W, W]),
];

/// Port 9 (discard) of this very host, where nobody listens.
const LOOPBACK: &[u8] = &[2, 0, 0, 9, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
