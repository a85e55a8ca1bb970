//! Cuts a stream of protocol messages into single ones.

use anyhow::{Result, ensure};

/// Longer messages are a sign that the stream is not what we take it for.
const MESSAGE_MAX: usize = 1 << 30;

/// What a client may send before its first message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// A question whether the server encrypts; answered with one byte, then it opens again.
    Encryption,
    /// The ordinary start, or a request to cancel.
    Start,
}

/// Bytes that arrived and are not yet taken.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
}

/// One message with its tag and length.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) bytes: Vec<u8>,
}

impl Message {
    pub(super) fn tag(&self) -> u8 {
        self.bytes[0]
    }

    pub(super) fn body(&self) -> &[u8] {
        &self.bytes[5..]
    }
}

impl Buffer {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The opening at the front, when it is whole.
    pub(super) fn opening(&mut self) -> Result<Option<(Opening, Vec<u8>)>> {
        let Some(length) = self.length(0)? else { return Ok(None) };
        ensure!(length >= 8, "an opening of {length} bytes");
        if self.bytes.len() < length {
            return Ok(None);
        }
        let bytes: Vec<u8> = self.bytes.drain(..length).collect();
        let code = u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        let opening = match code {
            80_877_103 | 80_877_104 => Opening::Encryption,
            _ => Opening::Start,
        };
        Ok(Some((opening, bytes)))
    }

    /// The message at the front, when it is whole.
    pub(super) fn message(&mut self) -> Result<Option<Message>> {
        let Some(length) = self.length(1)? else { return Ok(None) };
        ensure!(length >= 4, "a message of {length} bytes");
        if self.bytes.len() < length + 1 {
            return Ok(None);
        }
        Ok(Some(Message { bytes: self.bytes.drain(..=length).collect() }))
    }

    fn length(&self, at: usize) -> Result<Option<usize>> {
        let Some(bytes) = self.bytes.get(at..at + 4) else { return Ok(None) };
        let length = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let length = usize::try_from(length)?;
        ensure!(length <= MESSAGE_MAX, "a message of {length} bytes");
        Ok(Some(length))
    }
}

#[cfg(test)]
mod tests;
