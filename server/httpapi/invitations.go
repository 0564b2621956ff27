package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/access"
)

// InvitationBody requests a one-time link to the workspace.
type InvitationBody struct {
	Role      registry.Role `json:"role"`
	Note      string        `json:"note,omitempty" maxLength:"200" doc:"Note with the name of the invited person."`
	ExpiresAt *time.Time    `json:"expiresAt,omitempty" doc:"Time of expiry, within 30 days (default: one week)."`
}

// Invitation is an invitation that is not accepted yet. It does not contain the secret.
type Invitation struct {
	ID        string        `json:"id"`
	Role      registry.Role `json:"role"`
	Note      string        `json:"note"`
	CreatedBy string        `json:"createdBy"`
	CreatedAt time.Time     `json:"createdAt"`
	ExpiresAt time.Time     `json:"expiresAt"`
}

// NewInvitation is an invitation with its link, which is shown only once.
type NewInvitation struct {
	Invitation
	Link string `json:"link" doc:"Invitation link. The secret follows the #, which browsers do not send."`
}

// InvitationList lists the open invitations.
type InvitationList struct {
	Items      []Invitation `json:"items"`
	NextCursor string       `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// InvitationSecret is the part after the # of an invitation link.
type InvitationSecret struct {
	Secret string `json:"secret" minLength:"1" maxLength:"4096"`
}

// Invited describes the workspace and role of an invitation.
type Invited struct {
	Workspace string        `json:"workspace" doc:"Display name of the workspace."`
	Role      registry.Role `json:"role"`
	InvitedBy string        `json:"invitedBy"`
	ExpiresAt time.Time     `json:"expiresAt"`
}

// AcceptBody accepts an invitation, either for the signed-in person, or with a sign-in name and a password. A sign-in
// name that does not exist yet creates a new person.
type AcceptBody struct {
	Secret   string `json:"secret" minLength:"1" maxLength:"4096"`
	SignedIn bool   `json:"signedIn,omitempty" doc:"true accepts the invitation for the signed-in person."`
	Name     string `json:"name,omitempty" maxLength:"100"`
	Title    string `json:"title,omitempty" maxLength:"100" doc:"Display name of a new person (default: the name)."`
	Password string `json:"password,omitempty" maxLength:"1024" doc:"At least 12 bytes for a new person."`
}

func invitationOf(i registry.Invitation) Invitation {
	return Invitation{ID: i.ID, Role: i.Role, Note: i.Note, CreatedBy: i.Creator.Name, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt}
}

func (a *API) createInvitation() {
	type in struct {
		RequestBase
		Body InvitationBody
	}
	type out struct{ Body NewInvitation }
	add(a, endpoint{
		id: "createInvitation", method: http.MethodPost, path: Base + "/invitations", tag: "people", summary: "Create a one-time invitation link",
		about: "The link is shown once. Only a hash of its secret is stored.", status: http.StatusCreated,
	}, func(ctx context.Context, q *in) (*out, error) {
		secret, i, err := a.Access.Invite(ctx, caller(ctx), access.InvitationRequest{Role: q.Body.Role, Note: q.Body.Note, ExpiresAt: q.Body.ExpiresAt})
		if err != nil {
			return nil, err
		}
		return &out{Body: NewInvitation{Invitation: invitationOf(i), Link: a.baseURL(q.RequestBase) + studio + "invitation#" + secret}}, nil
	})
}

func (a *API) listInvitations() {
	type out struct{ Body InvitationList }
	add(a, endpoint{
		id: "listInvitations", method: http.MethodGet, path: Base + "/invitations", tag: "people", summary: "List open invitations",
		about: "Invitations that were neither used nor revoked and have not expired.",
	}, func(ctx context.Context, q *ListPaging) (*out, error) {
		invitations, err := a.Access.ListInvitations(ctx, actor(ctx))
		if err != nil {
			return nil, err
		}
		list := make([]Invitation, 0, len(invitations))
		for _, i := range invitations {
			list = append(list, invitationOf(i))
		}
		page, next, err := pageOf(*q, "invitations", list, func(i Invitation) string { return i.ID })
		return &out{Body: InvitationList{page, next}}, err
	})
}

func (a *API) revokeInvitation() {
	type in struct {
		Invitation string `path:"invitation" maxLength:"100" doc:"ID of the invitation."`
	}
	add(a, endpoint{
		id: "revokeInvitation", method: http.MethodDelete, path: Base + "/invitations/{invitation}", tag: "people", summary: "Revoke an invitation",
		about:  "Its link stops working at once.",
		status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*none, error) {
		return &none{}, a.Access.RevokeInvitation(ctx, actor(ctx), q.Invitation)
	})
}

func (a *API) readInvitation() {
	type in struct {
		Connection
		Body InvitationSecret
	}
	type out struct{ Body Invited }
	add(a, endpoint{
		id: "readInvitation", method: http.MethodPost, path: Base + "/invitations/read", tag: "people", summary: "Read an invitation without using it",
		about:  "Shows the workspace and role before the invitation is accepted. Requires no credential except the secret of the link.",
		public: true, bodyBytes: 8 << 10, refusals: []fault.Code{fault.Unauthenticated, fault.TooManyRequests},
	}, func(ctx context.Context, q *in) (*out, error) {
		answer := &out{}
		i, w, err := a.Access.Invited(ctx, q.Body.Secret)
		answer.Body = Invited{Workspace: w.Title, Role: i.Role, InvitedBy: i.Creator.Name, ExpiresAt: i.ExpiresAt}
		return answer, a.Attempts.Checked(q.request, "link", q.Body.Secret, err)
	})
}

func (a *API) acceptInvitation() {
	type in struct {
		Connection
		Body AcceptBody
	}
	add(a, endpoint{
		id: "acceptInvitation", method: http.MethodPost, path: Base + "/invitations/accept", tag: "people", summary: "Accept an invitation",
		about:  "Signs the person in: the answer sets the session cookie. An invitation works once.",
		status: http.StatusNoContent, public: true, bodyBytes: 16 << 10, refusals: []fault.Code{fault.Unauthenticated, fault.TooManyRequests, fault.NameTaken},
	}, func(ctx context.Context, q *in) (*cookieAnswer, error) {
		answer, body := &cookieAnswer{}, q.Body
		who := access.Acceptance{Name: body.Name, Title: body.Title, Password: body.Password}
		if body.SignedIn {
			if who.Cookie = a.sessionOf(q.request); who.Cookie == "" {
				return nil, fault.New(fault.Unauthenticated, "You are not signed in. Sign in, or accept the invitation with a name and a password.")
			}
		}
		err := a.Attempts.Try(q.request, passwordName(body.Name), body.Secret+"\x00"+body.Password, func() error {
			value, expires, err := a.Access.Accept(ctx, body.Secret, who, deviceOf(q.request))
			if value != "" {
				answer.SetCookie = a.cookie(q.request, value, expires).String()
			}
			return err
		})
		return answer, err
	})
}
