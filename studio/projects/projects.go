// Package projects stores projects, which are trees of files that programs read, and the changes that programs propose.
// A run works on an overlay: it reads the files of the project, and its writes are stored separately until a person
// accepts them.
package projects

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/lru"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
)

// These are the limits of projects and overlays.
const (
	MaxFileBytes    = 10 << 20
	MaxFiles        = 20_000
	MaxBytes        = 256 << 20
	MaxProjects     = 200   // maximum number of projects of a workspace
	MaxOpen         = 1_000 // maximum number of open overlays of a project
	MaxEdits        = 5_000 // maximum number of changed files of an overlay
	MaxOverlayBytes = 64 << 20
	MaxSpoolBytes   = 4 * MaxOverlayBytes // maximum bytes that a run may write, including content that later writes replaced
	maxText         = 4_000               // maximum size in bytes of a description or a summary
	maxPaths        = 500                 // maximum number of paths in the record of a change
	batchBytes      = 4 << 20             // maximum bytes of contents in one transaction
)

// Store creates, reads and deletes projects.
type Store interface {
	CreateProject(ctx context.Context, p registry.Project, first registry.ProjectChange) error
	Projects(ctx context.Context, workspace string) ([]registry.Project, error)
	Project(ctx context.Context, workspace, name string) (registry.Project, error)
}

// Changes stores the changes of projects and their history.
type Changes interface {
	ChangeProject(ctx context.Context, p registry.Project, change registry.ProjectChange, decided *registry.Overlay) error
	ProjectChanges(ctx context.Context, workspace, project, cursor string, limit int) (registry.ChangePage, error)
	DeleteProject(ctx context.Context, workspace, id string) error
}

// Overlays stores the proposed changes of runs.
type Overlays interface {
	InsertOverlay(ctx context.Context, o registry.Overlay) error
	Overlay(ctx context.Context, workspace, project, id string) (registry.Overlay, error)
	Overlays(ctx context.Context, workspace, project string, status registry.OverlayStatus, cursor string, limit int) (registry.OverlayPage, error)
}

// Decisions stores decisions about overlays.
type Decisions interface {
	DecideOverlay(ctx context.Context, o registry.Overlay) error
	ExpireOverlays(ctx context.Context, now time.Time) (int, error)
	CountOpenOverlays(ctx context.Context, workspace, project string) (int, error)
}

// Contents stores file contents by digest.
type Contents interface {
	PutContents(ctx context.Context, workspace string, contents []registry.Content, now time.Time) error
	Contents(ctx context.Context, workspace string, digests []string) (map[string][]byte, error)
}

// Quotas limits the bytes that a workspace stores.
type Quotas interface {
	CheckAgentLimit(ctx context.Context, workspace string) error
	AddStored(workspace string, bytes int64)
}

// Options configures a Service.
type Options struct {
	Store     Store
	Changes   Changes
	Overlays  Overlays
	Decisions Decisions
	Contents  Contents
	Garbage   Garbage
	Quotas    Quotas
	Keep      time.Duration // how long an overlay waits for a decision
	Dir       string        // directory for the temporary files of runs
	Now       func() time.Time
	NewID     func() string
}

// Service manages projects. It is safe for concurrent use.
type Service struct {
	Options
	trees *lru.Cache[string, registry.Tree] // trees, by workspace and digest; entries never change
	files *lru.Cache[string, []byte]        // file contents, by workspace and digest; entries never change
}

// New returns a service.
func New(o Options) *Service {
	return &Service{Options: o, trees: lru.New[string, registry.Tree](16, 32<<20), files: lru.New[string, []byte](50_000, 64<<20)}
}

// List returns the projects of a workspace by name.
func (s *Service) List(ctx context.Context, actor registry.Actor) ([]registry.Project, error) {
	return s.Store.Projects(ctx, actor.Workspace)
}

// Get returns a project. Error: NotFound.
func (s *Service) Get(ctx context.Context, actor registry.Actor, name string) (registry.Project, error) {
	return s.Store.Project(ctx, actor.Workspace, name)
}

// Delete removes a project with its history and its overlays. Error: NotFound.
func (s *Service) Delete(ctx context.Context, actor registry.Actor, name string) error {
	p, err := s.Get(ctx, actor, name)
	if err != nil {
		return err
	}
	return s.Changes.DeleteProject(ctx, actor.Workspace, p.ID)
}

// History returns a page of a project's changes, newest first. Error: NotFound.
func (s *Service) History(ctx context.Context, actor registry.Actor, name, cursor string, limit int) (registry.ChangePage, error) {
	p, err := s.Get(ctx, actor, name)
	if err != nil {
		return registry.ChangePage{}, err
	}
	return s.Changes.ProjectChanges(ctx, actor.Workspace, p.ID, cursor, limit)
}

// Tree returns a project with the list of its files. Error: NotFound.
func (s *Service) Tree(ctx context.Context, actor registry.Actor, name string) (registry.Project, registry.Tree, error) {
	p, err := s.Get(ctx, actor, name)
	if err != nil {
		return p, nil, err
	}
	tree, err := s.tree(ctx, actor.Workspace, p.Tree)
	return p, tree, err
}

// File returns the content of one file of a project. Error: NotFound.
func (s *Service) File(ctx context.Context, actor registry.Actor, name, path string) ([]byte, error) {
	_, tree, err := s.Tree(ctx, actor, name)
	if err != nil {
		return nil, err
	}
	file, ok := tree[path]
	if !ok {
		return nil, fault.New(fault.NotFound, "The project has no file at this path.")
	}
	return s.content(ctx, actor.Workspace, file.Digest)
}

// tree reads the list of files that has the given digest.
func (s *Service) tree(ctx context.Context, workspace, digest string) (registry.Tree, error) {
	key := workspace + " " + digest
	if tree, ok := s.trees.Get(key); ok {
		return tree, nil
	}
	text, err := s.content(ctx, workspace, digest)
	if err != nil {
		return nil, err
	}
	tree := registry.Tree{}
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("read tree %s: %w", digest, err)
	}
	s.trees.Put(key, tree, 2*len(text))
	return tree, nil
}

// putTree stores a list of files and returns its digest.
func (s *Service) putTree(ctx context.Context, workspace string, tree registry.Tree) (string, error) {
	text, err := json.Marshal(tree)
	if err != nil {
		return "", err
	}
	digest := blobs.Digest(text)
	return digest, s.put(ctx, workspace, []registry.Content{{Digest: digest, Bytes: text}})
}

// put stores contents and adds their size to the workspace's usage. Contents that existed already are added too; the
// next measurement of the storage corrects this.
func (s *Service) put(ctx context.Context, workspace string, contents []registry.Content) error {
	contents = distinct(contents)
	if err := s.Contents.PutContents(ctx, workspace, contents, s.Now()); err != nil {
		return err
	}
	var bytes int64
	for _, c := range contents {
		bytes += int64(len(c.Bytes))
	}
	s.Quotas.AddStored(workspace, bytes)
	return nil
}

// content reads a content and checks that it matches its digest.
func (s *Service) content(ctx context.Context, workspace, digest string) ([]byte, error) {
	found, err := s.contents(ctx, workspace, []string{digest})
	return found[digest], err
}

// contents reads several contents. It returns an error if one of them does not exist.
func (s *Service) contents(ctx context.Context, workspace string, digests []string) (map[string][]byte, error) {
	found := make(map[string][]byte, len(digests))
	var missing []string
	for _, digest := range digests {
		if bytes, ok := s.files.Get(workspace + " " + digest); ok {
			found[digest] = bytes
		} else if _, twice := found[digest]; !twice {
			missing = append(missing, digest)
		}
	}
	read, err := s.Contents.Contents(ctx, workspace, missing)
	if err != nil {
		return nil, err
	}
	for _, digest := range missing {
		bytes, ok := read[digest]
		if !ok || blobs.Digest(bytes) != digest {
			return nil, fmt.Errorf("read content %s: it is missing or damaged", digest)
		}
		s.files.Put(workspace+" "+digest, bytes, len(bytes))
		found[digest] = bytes
	}
	return found, nil
}

// size returns the number and the size of the files of a tree.
func size(tree registry.Tree) (files int, bytes int64) {
	for _, f := range tree {
		bytes += f.Size
	}
	return len(tree), bytes
}

// checkSize rejects a tree that is too large.
func checkSize(tree registry.Tree) error {
	files, bytes := size(tree)
	if files > MaxFiles || bytes > MaxBytes {
		return fault.Invalid("/files", "must be at most %d files with %d MiB in total; remove generated files.", MaxFiles, MaxBytes>>20)
	}
	return nil
}

// Expire ends the overlays, in all workspaces, about which nobody decided in time.
func (s *Service) Expire(ctx context.Context) (int, error) {
	return s.Decisions.ExpireOverlays(ctx, s.Now())
}
