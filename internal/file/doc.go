// Package file stores blobs: the content of attachments, pictures and avatars. A blob is a
// sequence of bytes with a name, in a folder or in an S3 bucket. When Put returns without
// an error, the blob is complete and durable. A blob can be replaced, renamed or removed,
// but not modified.
//
// Names consist of lowercase letters, digits, hyphens, underscores and dots, in segments
// that are separated by slashes. No segment starts with a dot.
package file
