package limits

import (
	"errors"
	"fmt"
	"os"
)

const (
	logBlock  = 4096
	logBlocks = 1024
)

// Log is a file of 4 MB that is overwritten cyclically, as a write-ahead log is.
type Log struct {
	file   *os.File
	block  []byte
	number int64 // blocks written
}

// NewLog creates a log and fills it. The caller must close it.
func NewLog(path string) (*Log, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create log: %w", err)
	}
	l := &Log{file: file, block: make([]byte, logBlock)}
	for i := range l.block {
		l.block[i] = byte(i)
	}
	for range logBlocks {
		if err := l.write(); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return l, nil
}

// Append writes the next 4 kB and syncs the file.
func (l *Log) Append() error {
	l.block[0]++
	if err := l.write(); err != nil {
		return err
	}
	return l.file.Sync()
}

func (l *Log) write() error {
	_, err := l.file.WriteAt(l.block, l.number%logBlocks*logBlock)
	l.number++
	return err
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
