package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	// partSize is the size of the parts of a large blob. An upload has one buffer of this
	// size, and a second one if the blob is larger. S3 allows 10,000 parts, so a blob can
	// have about 80 GB.
	partSize = 8 << 20
	// attempts is the maximum number of times that a request is sent to the bucket.
	attempts = 3
	// responseTime limits the wait for the headers of each response, so that a request does
	// not wait forever for a bucket that does not respond.
	responseTime = 20 * time.Second
)

// Bucket stores each blob in an object of an S3 bucket.
type Bucket struct {
	client *minio.Client
	bucket string
	prefix string // of all objects; empty, or ends with a slash
}

// OpenBucket opens the bucket at an address such as
// s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-central-1. The default
// endpoint is that of Amazon S3. The credentials come from AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, from AWS's credentials file, or from the machine's role.
// OpenBucket returns an error if the address is invalid, or if the bucket does not exist
// or cannot be reached.
func OpenBucket(ctx context.Context, address string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil {
		return nil, errors.New("the address of a bucket must have the form s3://BUCKET/PREFIX?endpoint=URL&region=REGION")
	}
	endpoint, secure, err := endpointOf(u.Query().Get("endpoint"))
	if err != nil {
		return nil, err
	}
	client, err := minio.New(endpoint, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		}),
		Secure: secure, Region: u.Query().Get("region"), MaxRetries: attempts, Transport: transport(),
	})
	if err != nil {
		return nil, fmt.Errorf("open the bucket %s: %w", u.Host, err)
	}
	b := &Bucket{client: client, bucket: u.Host, prefix: strings.Trim(u.Path, "/")}
	if b.prefix != "" {
		if err := checkName(b.prefix); err != nil {
			return nil, err
		}
		b.prefix += "/"
	}
	exists, err := client.BucketExists(ctx, b.bucket)
	if err == nil && !exists {
		err = errors.New("the bucket does not exist")
	}
	if err != nil {
		return nil, fmt.Errorf("open the bucket %s: %w", u.Host, bucketError(err))
	}
	return b, nil
}

// endpointOf returns the host of an endpoint, and whether it uses HTTPS.
func endpointOf(endpoint string) (host string, secure bool, err error) {
	if endpoint == "" {
		return "s3.amazonaws.com", true, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return "", false, fmt.Errorf("the endpoint %q must be a URL without a path, such as https://s3.example.com", endpoint)
	}
	return u.Host, u.Scheme == "https", nil
}

func transport() http.RoundTripper {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		MaxIdleConnsPerHost:   32,
		IdleConnTimeout:       time.Minute,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: responseTime,
		DisableCompression:    true, // do not decompress an object that is stored compressed
	}
}

// Put implements Blobs. In S3, an object becomes visible only when it is complete.
func (b *Bucket) Put(ctx context.Context, name string, r io.Reader) (int64, error) {
	if err := checkName(name); err != nil {
		return 0, err
	}
	from := &source{ctx: ctx, r: r}
	first := make([]byte, partSize)
	n, err := io.ReadFull(from, first)
	if from.err != nil {
		return 0, from.err
	}
	options := minio.PutObjectOptions{ContentType: "application/octet-stream", PartSize: partSize, NumThreads: 1}
	var (
		content io.Reader = bytes.NewReader(first[:n])
		size              = int64(n)
	)
	if err == nil { // more follows
		content, size = io.MultiReader(content, from), -1
	}
	stored, err := b.client.PutObject(ctx, b.bucket, b.prefix+name, content, size, options)
	switch {
	case from.err != nil:
		return 0, from.err
	case err != nil:
		return 0, fmt.Errorf("store a file: %w", bucketError(err))
	}
	return stored.Size, nil
}

// Open implements Blobs.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	object, err := b.client.GetObject(ctx, b.bucket, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, fmt.Errorf("open a file: %w", bucketError(err))
	}
	if _, err := object.Stat(); err != nil { // GetObject sends no request
		return nil, errors.Join(fmt.Errorf("open a file: %w", b.missing(ctx, bucketError(err))), object.Close())
	}
	return content{object}, nil
}

// missing replaces ErrMissing with ErrUnavailable if the whole bucket does not exist. S3
// responds to a HEAD request in the same way whether the object or the bucket is missing.
// missing returns other errors unchanged.
func (b *Bucket) missing(ctx context.Context, err error) error {
	if !errors.Is(err, ErrMissing) {
		return err
	}
	exists, failed := b.client.BucketExists(ctx, b.bucket)
	switch {
	case failed != nil:
		return bucketError(failed)
	case !exists:
		return fmt.Errorf("%w: the bucket does not exist", ErrUnavailable)
	}
	return err
}

// content reads an object and converts errors with bucketError.
type content struct{ *minio.Object }

func (c content) Read(p []byte) (int, error) {
	n, err := c.Object.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("read a file: %w", bucketError(err))
	}
	return n, err
}

// Move implements Blobs. It copies the object within the bucket and then removes the
// original.
func (b *Bucket) Move(ctx context.Context, from, to string) error {
	if err := checkName(from, to); err != nil {
		return err
	}
	_, err := b.client.CopyObject(ctx, minio.CopyDestOptions{Bucket: b.bucket, Object: b.prefix + to},
		minio.CopySrcOptions{Bucket: b.bucket, Object: b.prefix + from})
	if err != nil {
		return fmt.Errorf("copy a file: %w", bucketError(err))
	}
	return b.Remove(ctx, from)
}

// Remove implements Blobs.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	err := b.client.RemoveObject(ctx, b.bucket, b.prefix+name, minio.RemoveObjectOptions{})
	if err = bucketError(err); err != nil && !errors.Is(err, ErrMissing) {
		return fmt.Errorf("remove a file: %w", err)
	}
	return nil
}

// List implements Blobs.
func (b *Bucket) List(ctx context.Context, prefix string, fn func(Info) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for object := range b.client.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
		if object.Err != nil {
			return fmt.Errorf("list files: %w", bucketError(object.Err))
		}
		err := fn(Info{Name: strings.TrimPrefix(object.Key, b.prefix), Size: object.Size, Changed: object.LastModified})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// RemoveUnfinished implements Blobs.
func (b *Bucket) RemoveUnfinished(ctx context.Context, before time.Time) error {
	for upload := range b.client.ListIncompleteUploads(ctx, b.bucket, b.prefix, true) {
		err := upload.Err
		if err == nil && upload.Initiated.Before(before) {
			err = minio.Core{Client: b.client}.AbortMultipartUpload(ctx, b.bucket, upload.Key, upload.UploadID)
		}
		if err = bucketError(err); err != nil && !errors.Is(err, ErrMissing) {
			return fmt.Errorf("remove an unfinished file: %w", err)
		}
	}
	return ctx.Err()
}

// bucketError converts an error of the bucket to one of this package. An error without a
// response, such as a network error, becomes ErrUnavailable. bucketError returns a
// cancellation unchanged.
func bucketError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var response minio.ErrorResponse
	errors.As(err, &response)
	switch response.StatusCode {
	case http.StatusNotFound:
		if response.Code == minio.NoSuchBucket {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return ErrMissing
	case http.StatusInsufficientStorage:
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
