package record

import "hash/crc32"

// castagnoli is never changed after its making.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC is the checksum of batches of magic 2 (CRC-32C) over b.
func CRC(b []byte) uint32 { return UpdateCRC(0, b) }

// UpdateCRC adds b to the checksum of what is before it.
func UpdateCRC(crc uint32, b []byte) uint32 {
	crc, b = foldCRC(crc, b)
	return crc32.Update(crc, castagnoli, b)
}
