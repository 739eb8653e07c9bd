// Package pack keeps bytes by their SHA-256 in append-only files.
//
// # Words
//
// An object is a run of bytes, named by its hash, and found by its ID, the first 20 bytes of that. A pack is a file of objects'
// bodies; beside it stands its index, a file of batches of records that say where they are. A list is an object whose body is
// stored as the hashes of its chunks: every content above ChunkSize. A delta is a body stored as what is different from another
// object. The generation is a random text that changes when a sweep removes objects.
//
// # Invariants
//
//   - An object is written once, whatever the number of packs, files and checkpoints that hold it.
//   - Each process writes its own pack, from its first Put to the next sweep or its end. Nobody writes another's pack.
//   - When Commit returns, bodies and records are on the disk (fsync). Both go there together, as that takes half the time; more than
//     1 MiB of bodies go first. After a crash an object is there whole or not at all: a torn batch, one with a wrong checksum, and
//     bodies without a record are not there, nor is the last batch of an index if its bodies do not have their checksum. What another
//     process has not synced yet is synced before this one refers to it.
//   - When a sync fails, what was not on the disk is not there any more, and nothing more is written to that pack.
//   - What a delta is made from is as near to a whole body as it was when the delta was written, or nearer: so deltas in a row have
//     an end, also when several processes stored the same objects in different ways. What is made from an object keeps it.
//   - What is read is checked against its hash. A body that does not match is an error, never an answer.
//   - Whoever reads or writes holds the lock shared, from asking whether an object is there until what refers to it is on the disk; a
//     sweep holds it alone. The lock is the system's (flock, LockFileEx), so it ends with its process.
//   - Folders are 0700 and files 0600.
//
// # Deliberately absent
//
// What objects mean, and which are needed: package checkpoint. Encryption. Which bodies resemble one another: the caller says so. Repair.
package pack
