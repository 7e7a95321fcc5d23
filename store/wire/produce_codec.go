package wire

import (
	"encoding/binary"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// maxInflated bounds what a batch may be decompressed to when it is compressed anew, bytes.
const maxInflated = 64 << 20

// recompress returns a batch in the codec that its topic asks for: the batch itself where it is in it already, or where
// it is so bad that the log will refuse it.
func recompress(batch []byte, h record.Header, cfg layout.TopicConfig) []byte {
	name := cfg.Compression
	if name == "uncompressed" {
		name = "none"
	}
	codec, err := record.ParseCodec(name)
	if err != nil || codec == h.Codec() || !h.Codec().Known() {
		return batch
	}
	if stored, computed := record.Checksum(batch); stored != computed {
		return batch
	}
	section := batch[record.HeaderSize:]
	if h.Codec() != record.None {
		if section, err = record.Decompress(nil, h.Codec(), h.Magic, section, maxInflated); err != nil {
			return batch
		}
	}
	h.Attributes = h.Attributes&^codecBits | int16(codec)
	out := record.AppendHeader(make([]byte, 0, len(batch)), h)
	if codec == record.None {
		out = append(out, section...)
	} else if out, err = record.Compress(out, codec, cfg.CompressionLevel, section); err != nil {
		return batch
	}
	binary.BigEndian.PutUint32(out[8:], uint32(len(out)-12))
	binary.BigEndian.PutUint32(out[17:], record.CRC(out[21:]))
	return out
}

// codecBits are the attributes' bits of the codec.
const codecBits = 7
