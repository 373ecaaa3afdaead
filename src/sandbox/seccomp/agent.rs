//! The agent's list: one channel, timers, and what its model needs.

use nix::libc::{
    AF_INET, AF_INET6, AF_UNIX, F_GETFL, F_SETFL, IPPROTO_TCP, O_LARGEFILE, O_NONBLOCK, O_RDWR, SO_ERROR, SO_KEEPALIVE,
    SOCK_STREAM, SOL_SOCKET, TCP_KEEPCNT, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_NODELAY, TCP_USER_TIMEOUT,
};

use super::call::{Call, Condition, SEND_CONNECTED, Test, call, is, low};

/// What every agent does beyond the common.
pub(super) const AGENT: &[Call] = &[
    #[cfg(target_arch = "x86_64")]
    call!(SYS_epoll_wait, "waiting for the channel, the model, a timer"),
    call!(fallback SYS_epoll_pwait, "the same, where the C library has only this one"),
    call!(SYS_epoll_ctl, "what to wait for"),
    call!(SYS_write, "the runtime wakes itself; last words on standard error"),
    call!(SYS_recvfrom, "its channel"),
    call!(SYS_sendto, [SEND_CONNECTED], "its channel; never an address, never connecting while sending"),
    call!(SYS_fcntl, [[is(1, F_GETFL)]], "the runtime checks that its channel never blocks"),
    call!(SYS_shutdown, "the end of its channel"),
];

/// What a connection to a model takes, beyond the kind of socket.
const STREAM: &[Call] = &[
    call!(SYS_connect, "the model; where to is Landlock's part, which knows ports and not addresses"),
    call!(fallback SYS_read, "the model's answer"),
    call!(fallback SYS_readv, "the model's answer, in pieces"),
    call!(fallback SYS_writev, "the request, in pieces"),
    call!(fallback SYS_getsockname, "the connection's own end"),
    call!(fallback SYS_getpeername, "the connection's other end"),
    call!(SYS_getsockopt, [[is(1, SOL_SOCKET), is(2, SO_ERROR)]], "did the connection come about"),
    call!(
        fallback SYS_fcntl,
        [[is(1, F_SETFL), low(2, Test::Bits(!(O_LARGEFILE as u32 as u64), (O_RDWR | O_NONBLOCK) as u64))]],
        "a connection never blocks"
    ),
];

/// A stream socket of a family, with the protocol that goes with it or none named. The type is a number under a mask of
/// four bits and the family a number, not bits; a test of bits would let other families in.
const fn stream(family: i32, protocol: i32) -> [Condition; 3] {
    [is(0, family), low(1, Test::Bits(0xf, SOCK_STREAM as u64)), is(2, protocol)]
}

/// What a model on a TCP port adds. MPTCP is left out by its protocol number: Landlock's port rule does not see it.
pub(super) const TCP: &[&[Call]] = &[
    STREAM,
    &[
        call!(
            SYS_socket,
            [stream(AF_INET, 0), stream(AF_INET, IPPROTO_TCP), stream(AF_INET6, 0), stream(AF_INET6, IPPROTO_TCP)],
            "a TCP connection to the model; no other family, no other protocol"
        ),
        call!(
            SYS_setsockopt,
            [
                [is(1, IPPROTO_TCP), is(2, TCP_NODELAY)],
                [is(1, IPPROTO_TCP), is(2, TCP_KEEPIDLE)],
                [is(1, IPPROTO_TCP), is(2, TCP_KEEPINTVL)],
                [is(1, IPPROTO_TCP), is(2, TCP_KEEPCNT)],
                [is(1, IPPROTO_TCP), is(2, TCP_USER_TIMEOUT)],
                [is(1, SOL_SOCKET), is(2, SO_KEEPALIVE)]
            ],
            "no delay, and notice of a connection that died"
        ),
    ],
];

/// What a model on a Unix socket adds.
pub(super) const UNIX: &[&[Call]] =
    &[STREAM, &[call!(SYS_socket, [stream(AF_UNIX, 0)], "a connection to the model's Unix socket; no other family")]];
