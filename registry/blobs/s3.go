package blobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/atelier-run/atelier/internal/fault"
)

// S3Options holds the bucket and the settings of its connection.
type S3Options struct {
	Endpoint   string // host:port
	TLS        bool
	Bucket     string
	Region     string
	AccessKey  string
	SecretKey  string
	CacheDir   string
	CacheBytes int64
}

// S3 is a blob store in a bucket. The key of an object is code-blobs/NAME/HASH. So two publications of one version
// number never share an object. Every read verifies the content against the digest, and a local cache saves downloads.
// S3 is safe for concurrent use, also by several servers.
type S3 struct {
	options S3Options
	client  *minio.Client
	cache   *Folder

	mu    sync.Mutex
	etags map[string]string // ETags of the objects whose content is verified and in the cache, by digest
	state S3State
}

// S3State describes the bucket after its last response.
type S3State struct {
	Available bool
	Reason    string // reason why the bucket is not available
	Failures  int64  // number of requests that failed or returned content with a wrong digest
}

const (
	keyPrefix  = "code-blobs/"
	s3Patience = 30 * time.Second
	// cachedPatience is how long a read waits for the bucket if the cache contains the blob.
	cachedPatience = 3 * time.Second
	maxObject      = 64 << 20
)

// OpenS3 checks the options, and checks that it can read the bucket.
func OpenS3(ctx context.Context, o S3Options) (*S3, error) {
	cache, err := Open(o.CacheDir)
	if err != nil {
		return nil, err
	}
	client, err := minio.New(o.Endpoint, &minio.Options{
		Creds: credentials.NewStaticV4(o.AccessKey, o.SecretKey, ""), Secure: o.TLS, Region: o.Region, BucketLookup: minio.BucketLookupPath, MaxRetries: 3,
	})
	if err != nil {
		return nil, fmt.Errorf("--s3-endpoint: %w", err)
	}
	s := &S3{options: o, client: client, cache: cache, etags: map[string]string{}, state: S3State{Available: true}}
	ctx, cancel := within(ctx, s3Patience)
	defer cancel()
	found, err := client.BucketExists(ctx, o.Bucket)
	if err != nil {
		return nil, fmt.Errorf("reach the bucket %s at %s: %w", o.Bucket, o.Endpoint, err)
	}
	if !found {
		return nil, fmt.Errorf("the bucket %s does not exist at %s; create it or change --s3-bucket", o.Bucket, o.Endpoint)
	}
	return s, nil
}

// State returns the state of the bucket.
func (s *S3) State() S3State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Ping sends a request to the bucket. So State stays up to date even if no other request reads or stores a blob.
func (s *S3) Ping(ctx context.Context) {
	ctx, cancel := within(ctx, s3Patience)
	defer cancel()
	found, err := s.client.BucketExists(ctx, s.options.Bucket)
	if err == nil && !found {
		err = minio.ErrorResponse{Code: "NoSuchBucket"}
	}
	s.note(ctx, err)
}

// silent is the cause with which a context ends if the bucket does not answer a request in time.
type silent struct{ patience time.Duration }

func (e *silent) Error() string { return fmt.Sprintf("no answer within %s", e.patience) }

// within returns a context for a request to the bucket. The context ends after a time, with the cause silent.
func within(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, &silent{patience})
}

// note updates the state after a request to the bucket. It ignores an error if the caller cancelled the request or set
// its deadline, because such an error says nothing about the bucket.
func (s *S3) note(ctx context.Context, err error) {
	var late *silent
	if err != nil && ctx.Err() != nil && !errors.As(context.Cause(ctx), &late) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || isMissing(err) {
		s.state.Available, s.state.Reason = true, ""
		return
	}
	s.state.Available, s.state.Reason = false, fmt.Sprintf("The bucket %s cannot be used. %s", s.options.Bucket, remedy(ctx, err))
	s.state.Failures++
}

// Put stores a blob under a name and returns its digest.
func (s *S3) Put(ctx context.Context, name string, content []byte) (string, error) {
	ctx, cancel := within(ctx, s3Patience)
	defer cancel()
	digest := Digest(content)
	info, err := s.client.PutObject(ctx, s.options.Bucket, objectKey(name, digest), bytes.NewReader(content), int64(len(content)), minio.PutObjectOptions{
		ContentType: "application/json", DisableMultipart: true, SendContentMd5: true,
	})
	s.note(ctx, err)
	if err != nil {
		return "", s.failure(ctx, "store", name, err)
	}
	s.remember(ctx, name, digest, info.ETag, content)
	return digest, nil
}

// Get returns the content of a blob. Errors: NotFound; ContentChanged if the object was changed; StorageUnavailable if
// the bucket does not answer and the cache does not contain the blob.
func (s *S3) Get(ctx context.Context, name, digest string) ([]byte, error) {
	if content, err := s.cache.Get(ctx, name, digest); err == nil && s.current(ctx, name, digest) {
		return content, nil
	}
	return s.download(ctx, name, digest)
}

// current reports whether Get may use the cached content of a blob. It returns false if the object in the bucket was
// changed or removed. It returns true if the bucket does not answer, because cached content was verified against the
// digest.
func (s *S3) current(ctx context.Context, name, digest string) bool {
	ctx, cancel := within(ctx, cachedPatience)
	defer cancel()
	s.mu.Lock()
	known := s.etags[digest]
	s.mu.Unlock()
	info, err := s.client.StatObject(ctx, s.options.Bucket, objectKey(name, digest), minio.StatObjectOptions{})
	s.note(ctx, err)
	return err == nil && info.ETag == known || err != nil && !isMissing(err)
}

// download reads an object, verifies its digest, and puts it into the cache.
func (s *S3) download(ctx context.Context, name, digest string) ([]byte, error) {
	ctx, cancel := within(ctx, s3Patience)
	defer cancel()
	object, err := s.client.GetObject(ctx, s.options.Bucket, objectKey(name, digest), minio.GetObjectOptions{})
	if err != nil {
		return nil, s.failure(ctx, "read", name, err)
	}
	defer object.Close()
	content, err := io.ReadAll(io.LimitReader(object, maxObject))
	s.note(ctx, err)
	if err != nil {
		return nil, s.failure(ctx, "read", name, err)
	}
	if got := Digest(content); got != digest {
		s.mu.Lock()
		s.state.Failures++
		s.mu.Unlock()
		return nil, &fault.Error{Code: fault.ContentChanged, Message: fmt.Sprintf(
			"The object %s%s in the bucket %s was changed: its digest is %s, and the version has %s. Restore the object.", keyPrefix, name, s.options.Bucket, got, digest)}
	}
	if info, err := object.Stat(); err == nil {
		s.remember(ctx, name, digest, info.ETag, content)
	}
	return content, nil
}

// Size returns the number of bytes of a blob. Errors: NotFound, StorageUnavailable.
func (s *S3) Size(ctx context.Context, name, digest string) (int64, error) {
	ctx, cancel := within(ctx, s3Patience)
	defer cancel()
	info, err := s.client.StatObject(ctx, s.options.Bucket, objectKey(name, digest), minio.StatObjectOptions{})
	if err != nil {
		return 0, s.failure(ctx, "measure", name, err)
	}
	return info.Size, nil
}

// List calls each for every blob in the bucket until each returns an error. each may remove blobs.
func (s *S3) List(ctx context.Context, each func(Stored) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for object := range s.client.ListObjects(ctx, s.options.Bucket, minio.ListObjectsOptions{Prefix: keyPrefix, Recursive: true}) {
		if object.Err != nil {
			return s.failure(ctx, "list", "", object.Err)
		}
		at := strings.LastIndexByte(object.Key, '/')
		digest := prefix + object.Key[at+1:]
		if !digestForm.MatchString(digest) || at <= len(keyPrefix) {
			continue
		}
		if err := each(Stored{Name: object.Key[len(keyPrefix):at], Digest: digest, Bytes: object.Size, At: object.LastModified}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Remove removes a blob if the last call that stored it was before a time. It reports whether it removed the blob.
func (s *S3) Remove(ctx context.Context, b Stored, before time.Time) (bool, error) {
	ctx, cancel := within(ctx, s3Patience)
	defer cancel()
	key := objectKey(b.Name, b.Digest)
	info, err := s.client.StatObject(ctx, s.options.Bucket, key, minio.StatObjectOptions{})
	if isMissing(err) || err == nil && !info.LastModified.Before(before) {
		return false, nil
	}
	if err == nil {
		err = s.client.RemoveObject(ctx, s.options.Bucket, key, minio.RemoveObjectOptions{})
	}
	if err != nil {
		return false, s.failure(ctx, "remove", b.Name, err)
	}
	return true, nil
}

// loans is the key prefix of the temporary objects that Lend stores.
const loans = "job-inputs/"

// Lend stores content under a name as a temporary object and returns its URL. Anybody who has the URL can read the
// content until the given time is over. Error: StorageUnavailable.
func (s *S3) Lend(ctx context.Context, name string, content []byte, during time.Duration) (string, error) {
	ctx, cancel := within(ctx, s3Patience)
	defer cancel()
	_, err := s.client.PutObject(ctx, s.options.Bucket, loans+name, bytes.NewReader(content), int64(len(content)), minio.PutObjectOptions{
		ContentType: "application/octet-stream", DisableMultipart: true, SendContentMd5: true,
	})
	if err != nil {
		return "", s.lending("store", name, err)
	}
	address, err := s.client.PresignedGetObject(ctx, s.options.Bucket, loans+name, during, nil)
	if err != nil {
		return "", s.lending("lend", name, err)
	}
	return address.String(), nil
}

// Lent returns an object that Lend stored, and its size in bytes. The caller must close it. Errors: NotFound,
// StorageUnavailable.
func (s *S3) Lent(ctx context.Context, name string) (content io.ReadCloser, size int64, err error) {
	object, err := s.client.GetObject(ctx, s.options.Bucket, loans+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, 0, s.lending("return", name, err)
	}
	info, err := object.Stat()
	switch {
	case err == nil:
		return object, info.Size, nil
	case isMissing(err):
		err = notFound(loans+name, err)
	default:
		err = s.lending("return", name, err)
	}
	return nil, 0, errors.Join(err, object.Close())
}

// TakeBack removes an object that Lend stored. Error: StorageUnavailable.
func (s *S3) TakeBack(ctx context.Context, name string) error {
	ctx, cancel := within(ctx, s3Patience)
	defer cancel()
	if err := s.client.RemoveObject(ctx, s.options.Bucket, loans+name, minio.RemoveObjectOptions{}); err != nil && !isMissing(err) {
		return s.lending("remove", name, err)
	}
	return nil
}

// TakeBackIf calls useless with the name and the time of each object that Lend stored, and removes the object if
// useless returns true. Error: StorageUnavailable.
func (s *S3) TakeBackIf(ctx context.Context, useless func(name string, at time.Time) bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for object := range s.client.ListObjects(ctx, s.options.Bucket, minio.ListObjectsOptions{Prefix: loans, Recursive: true}) {
		if object.Err != nil {
			return s.lending("list", "", object.Err)
		}
		if name := strings.TrimPrefix(object.Key, loans); useless(name, object.LastModified) {
			if err := s.TakeBack(ctx, name); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (s *S3) lending(verb, name string, err error) error {
	return &fault.Error{
		Code: fault.StorageUnavailable, Message: fmt.Sprintf("The bucket %s does not %s the object %s%s.", s.options.Bucket, verb, loans, name), Err: err, RetryAfter: time.Second,
	}
}

// objectKey returns the key of a blob's object in the bucket.
func objectKey(name, digest string) string {
	return keyPrefix + name + "/" + strings.TrimPrefix(digest, prefix)
}

func isMissing(err error) bool {
	code := minio.ToErrorResponse(err).Code
	return code == "NoSuchKey" || code == "NotFound"
}

func (s *S3) failure(ctx context.Context, verb, name string, err error) error {
	if isMissing(err) {
		return notFound(keyPrefix+name, err)
	}
	return &fault.Error{
		Code: fault.StorageUnavailable, Message: fmt.Sprintf("The bucket %s does not %s the object %s%s. %s", s.options.Bucket, verb, keyPrefix, name, remedy(ctx, err)), Err: err, RetryAfter: time.Second,
	}
}

// remedy returns sentences that say why the bucket failed and how to fix the problem.
func remedy(ctx context.Context, err error) string {
	var late *silent
	switch code := minio.ToErrorResponse(err).Code; {
	case code == "NoSuchBucket":
		return "It does not exist: create it, or change --s3-bucket."
	case code == "AccessDenied", code == "InvalidAccessKeyId", code == "SignatureDoesNotMatch":
		return "It denies access: check --s3-access-key, --s3-secret-key and the rights of this key."
	case ctx.Err() != nil && errors.As(context.Cause(ctx), &late):
		return fmt.Sprintf("It did not answer within %s: check the network and the service at --s3-endpoint, and try again.", late.patience)
	case ctx.Err() != nil:
		return "The request ended before it answered. Try again."
	}
	return "Check that the service at --s3-endpoint answers, and try again."
}

// remember puts verified content into the cache. It ignores errors, such as a full disk, because a read also works
// without the cache.
func (s *S3) remember(ctx context.Context, name, digest, etag string, content []byte) {
	if _, err := s.cache.Put(ctx, name, content); err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.etags[digest] = etag
	s.prune()
}

// prune removes the oldest files of a cache that has become too large.
func (s *S3) prune() {
	type file struct {
		path string
		size int64
		at   time.Time
	}
	var files []file
	var total int64
	_ = filepath.WalkDir(s.options.CacheDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			files = append(files, file{path, info.Size(), info.ModTime()})
			total += info.Size()
		}
		return nil
	})
	slices.SortFunc(files, func(a, b file) int { return a.at.Compare(b.at) })
	for _, f := range files {
		if total <= s.options.CacheBytes {
			return
		}
		if err := os.Remove(f.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			total -= f.size
		}
	}
}
