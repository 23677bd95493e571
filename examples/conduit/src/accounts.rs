//! Accounts: who can sign in, for the API and the pages alike.

use odm::prelude::*;

use crate::{
    App,
    attempts::Address,
    failure::Answer,
    models::{NewUser, User},
    requests::UserPatch,
};

impl App {
    /// Registers a user.
    pub async fn register(
        &self,
        address: Address,
        username: String,
        email: String,
        password: String,
    ) -> Answer<User> {
        self.attempts.count(address, &odm::fold_case(&email))?;
        let user = NewUser {
            username,
            email,
            password_hash: self.auth.hash(password).await?,
            password_number: 0,
            bio: None,
            image: None,
        };
        Ok(self.db.users.insert(user).await?)
    }

    /// Returns the user with an address and a password.
    pub async fn login(&self, address: Address, email: &str, password: String) -> Answer<User> {
        let email = odm::fold_case(email);
        self.attempts.count(address, &email)?;
        let account = self.db.users.find(User::fields().email_folded.eq(email));
        let user = account.first().await?;
        self.auth.verify(user, password).await
    }

    /// Changes a user. With a new password, all tokens from before end.
    pub async fn update_user(
        &self,
        me: &User,
        mut patch: UserPatch,
        password: Option<String>,
    ) -> Answer<User> {
        let mut update = self.db.users.update(me);
        if let Some(password) = password {
            patch.password_hash = Some(self.auth.hash(password).await?);
            update = update.inc(User::fields().password_number, 1);
        }
        Ok(update.set_all(patch).returning().await?)
    }
}
