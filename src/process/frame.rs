//! Frames: one JSON message each, with a length that is checked before memory is taken and a sequence number.
//!
//! On the wire: four bytes of length (little-endian), then that many bytes of `{"seq":N,"body":…}`. Each direction counts
//! from 0. A frame that is too long, out of order or not the expected message ends the connection: there is no way to
//! resynchronise with a peer that breaks the rules, and no reason to.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Bytes: a request with SQL at the guard's limit, every byte escaped.
pub(crate) const REQUEST_CAP: usize = 1 << 20;
/// Bytes: a result at the largest byte cap, or a whole conversation in one event.
pub(crate) const REPLY_CAP: usize = 32 << 20;

const HEADER: usize = 4;

/// A peer broke the framing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// The length is zero or above the cap.
    #[error("a frame of {length} bytes is not allowed here (1 to {cap})")]
    Length {
        /// As announced.
        length: usize,
        /// What is allowed.
        cap: usize,
    },
    /// The sequence number is not the next one.
    #[error("frame {found} came where {expected} was due")]
    Sequence {
        /// As sent.
        found: u64,
        /// The next one.
        expected: u64,
    },
    /// The bytes are not the expected message.
    #[error("a frame is not a message of this channel: {0}")]
    Message(#[from] serde_json::Error),
}

#[derive(Serialize, Deserialize)]
struct Frame<T> {
    seq: u64,
    body: T,
}

/// Turns messages into frames.
#[derive(Debug)]
pub(crate) struct Encoder {
    next: u64,
    cap: usize,
}

/// Turns bytes, however they are cut, into messages.
#[derive(Debug)]
pub(crate) struct Decoder {
    buffer: Vec<u8>,
    next: u64,
    cap: usize,
}

impl Encoder {
    pub(crate) fn new(cap: usize) -> Self {
        Self { next: 0, cap }
    }

    /// One message as a frame.
    pub(crate) fn encode<T: Serialize>(&mut self, body: &T) -> Result<Vec<u8>, FrameError> {
        let mut frame = vec![0; HEADER];
        serde_json::to_writer(&mut frame, &Frame { seq: self.next, body })?;
        let length = frame.len() - HEADER;
        let announced = u32::try_from(length).ok().filter(|_| length <= self.cap);
        let announced = announced.ok_or(FrameError::Length { length, cap: self.cap })?;
        frame[..HEADER].copy_from_slice(&announced.to_le_bytes());
        self.next += 1;
        Ok(frame)
    }
}

impl Decoder {
    pub(crate) fn new(cap: usize) -> Self {
        Self { buffer: Vec::new(), next: 0, cap }
    }

    /// Takes bytes as they came.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message, if there is one.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let Some(header) = self.buffer.first_chunk::<HEADER>() else { return Ok(None) };
        let length = u32::from_le_bytes(*header) as usize;
        if length == 0 || length > self.cap {
            return Err(FrameError::Length { length, cap: self.cap });
        }
        let end = HEADER + length;
        if self.buffer.len() < end {
            return Ok(None);
        }
        let frame: Frame<T> = serde_json::from_slice(&self.buffer[HEADER..end])?;
        if frame.seq != self.next {
            return Err(FrameError::Sequence { found: frame.seq, expected: self.next });
        }
        self.next += 1;
        self.buffer.drain(..end);
        Ok(Some(frame.body))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_length_above_the_cap_is_refused_before_its_bytes_arrive() {
        let mut decoder = Decoder::new(16);
        decoder.push(&u32::MAX.to_le_bytes());
        assert!(matches!(decoder.next::<String>(), Err(FrameError::Length { .. })));
    }

    #[test]
    fn a_repeated_frame_is_refused() {
        let frame = Encoder::new(64).encode(&"once").unwrap();
        let mut decoder = Decoder::new(64);
        decoder.push(&frame);
        decoder.push(&frame);
        assert_eq!(decoder.next::<String>().unwrap().as_deref(), Some("once"));
        assert!(matches!(decoder.next::<String>(), Err(FrameError::Sequence { found: 0, expected: 1 })));
    }

    proptest! {
        #[test]
        fn messages_survive_any_cutting_of_their_bytes(
            messages in proptest::collection::vec(".{0,40}", 0..8),
            cut in 1_usize..9,
        ) {
            let mut encoder = Encoder::new(1024);
            let bytes: Vec<u8> = messages.iter().flat_map(|message| encoder.encode(message).unwrap()).collect();
            let mut decoder = Decoder::new(1024);
            let mut received = Vec::new();
            for piece in bytes.chunks(cut) {
                decoder.push(piece);
                while let Some(message) = decoder.next::<String>().unwrap() {
                    received.push(message);
                }
            }
            prop_assert_eq!(received, messages);
        }

        #[test]
        fn noise_never_panics_and_never_grows_past_the_cap(noise in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut decoder = Decoder::new(64);
            decoder.push(&noise);
            while let Ok(Some(_)) = decoder.next::<serde_json::Value>() {}
        }
    }
}
