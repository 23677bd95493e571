//! Accounts: who can sign in, for the API and the pages alike.

use odm::prelude::*;

use crate::{
    App,
    failure::Answer,
    models::{NewUser, User},
    requests::UserPatch,
};

impl App {
    /// Registers a user.
    pub async fn register(
        &self,
        username: String,
        email: String,
        password: String,
    ) -> Answer<User> {
        let user = NewUser {
            username,
            email,
            password_hash: self.auth.hash(password).await?,
            bio: None,
            image: None,
        };
        Ok(self.db.users.insert(user).await?)
    }

    /// Returns the user with an address and a password.
    pub async fn login(&self, email: &str, password: String) -> Answer<User> {
        let address = User::fields().email_folded.eq(odm::fold_case(email));
        let user = self.db.users.find(address).first().await?;
        self.auth.verify(user, password).await
    }

    /// Changes a user.
    pub async fn update_user(
        &self,
        me: &User,
        mut patch: UserPatch,
        password: Option<String>,
    ) -> Answer<User> {
        if let Some(password) = password {
            patch.password_hash = Some(self.auth.hash(password).await?);
        }
        Ok(self.db.users.update(me).set_all(patch).returning().await?)
    }
}
