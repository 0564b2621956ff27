package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// CreateUser stores a person without memberships. Error: NameTaken.
func (s *Store) CreateUser(ctx context.Context, u registry.User) error {
	return wrap("create user", createUser(ctx, s.write, u))
}

func createUser(ctx context.Context, db bun.IDB, u registry.User) error {
	row := userRow{ID: u.ID, Name: u.Name, Title: u.Title, Password: u.Password, CreatedAt: instant(u.CreatedAt)}
	_, err := db.NewInsert().Model(&row).Exec(ctx)
	if duplicate(err) {
		return fault.New(fault.NameTaken, "The sign-in name %s is taken.", u.Name)
	}
	return err
}

// User returns a person. Error: NotFound.
func (s *Store) User(ctx context.Context, id string) (registry.User, error) {
	return s.oneUser(ctx, "id", id)
}

// UserByName returns the person with a sign-in name. Error: NotFound.
func (s *Store) UserByName(ctx context.Context, name string) (registry.User, error) {
	return s.oneUser(ctx, "name", name)
}

func (s *Store) oneUser(ctx context.Context, column, value string) (registry.User, error) {
	var row userRow
	if impossible(value) {
		return registry.User{}, noUser()
	}
	err := s.read.NewSelect().Model(&row).Where("u.? = ?", bun.Ident(column), value).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.User{}, noUser()
	}
	return row.user(), wrap("read user", err)
}

func noUser() error { return fault.New(fault.NotFound, "User not found.") }

// SetPassword changes a user's password and ends all sessions of the user except one. If the session to keep is "", it
// ends all sessions. Errors: NotFound; Conflict for a user of an identity provider. Such a user could otherwise still
// sign in with the password after the provider has removed the user.
func (s *Store) SetPassword(ctx context.Context, user, password, keepSession string) error {
	return s.change(ctx, "set password", func(ctx context.Context, tx bun.Tx) error {
		federated, err := tx.NewSelect().Model((*identityRow)(nil)).Where("id.user_id = ?", user).Exists(ctx)
		if err != nil {
			return err
		}
		if federated {
			return fault.New(fault.Conflict, "You sign in with an OpenID provider and have no password here.")
		}
		result, err := tx.NewUpdate().Model((*userRow)(nil)).Set("password = ?", password).Where("u.id = ?", user).Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, noUser()); err != nil {
			return err
		}
		_, err = tx.NewDelete().Model((*sessionRow)(nil)).Where("s.actor_type = ?", string(registry.UserActor)).Where("s.actor_id = ?", user).
			Where("substr(s.hash, 1, ?) <> ?", registry.SessionIDLength, keepSession).Exec(ctx)
		return err
	})
}

type userRow struct {
	bun.BaseModel `bun:"table:users,alias:u"`

	ID        string    `bun:"id,pk"`
	Name      string    `bun:"name"`
	Title     string    `bun:"title"`
	Password  string    `bun:"password"`
	CreatedAt time.Time `bun:"created_at"`
}

func (row userRow) user() registry.User {
	return registry.User{ID: row.ID, Name: row.Name, Title: row.Title, Password: row.Password, CreatedAt: row.CreatedAt.UTC()}
}
