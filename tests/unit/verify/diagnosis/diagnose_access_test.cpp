#include <gtest/gtest.h>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

struct AccessCase {
  std::string why;
  std::string cause;
  std::string next;
};

TEST(Diagnose, ANodeThatCouldNotBeReadIsNotOffWhenTheTransportKnowsWhy) {
  const AccessCase cases[] = {
      {"spark-2: sudo wants a password for user 'nvidia'",
       "spark-2 lets us in, but sudo wants a password there",
       "allow sudo without a password on spark-2, or log in as root with `become: none` in "
       "`access`"},
      {"spark-2: sudo wants a terminal for user 'nvidia'",
       "spark-2 lets us in, but sudo wants a terminal there",
       "remove 'Defaults requiretty' from the sudoers of spark-2"},
      {"spark-2: sudo is not allowed for user 'nvidia'",
       "spark-2 lets us in, but the user may not use sudo there",
       "allow sudo without a password on spark-2, or log in as root with `become: none` in "
       "`access`"},
      {"spark-2: no sudo is installed for user 'nvidia'", "spark-2 lets us in, but has no sudo",
       "install sudo on spark-2, or log in as root with `become: none` in `access`"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: refused: /home/me/.ssh/id_ed25519",
       "the login was refused by spark-2",
       "put the public key on spark-2 (ssh-copy-id), and look at `user` in `access` of the "
       "manifest"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: /k is encrypted and no agent has it",
       "the key for spark-2 is encrypted here and no agent has it",
       "load the key for spark-2 into the agent with ssh-add"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: there is no key to try (no agent, and none "
       "of /k)",
       "there is no key here to log in to spark-2 with",
       "make one with ssh-keygen and put its public half on spark-2, or name its file as "
       "`identity`"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: too many keys were tried (/k)",
       "spark-2 ended the login: too many keys were tried",
       "name the right key file for spark-2 as `identity` in `access`"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: the key is right, but more is asked for "
       "(password)",
       "spark-2 takes our key but asks for more than a key",
       "let sshd of spark-2 be content with publickey (AuthenticationMethods)"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: no keys are taken there, only: password",
       "sshd of spark-2 takes no keys",
       "allow keys there: PubkeyAuthentication yes in the sshd_config of spark-2"},
      {"spark-2: the identity file /k does not exist",
       "the identity file for spark-2 cannot be used here",
       "mend `identity` in `access` of the manifest for spark-2"},
      {"/k:3: spark-2 (10.0.0.2): the host key changed: a is offered, b is known",
       "the host key of spark-2 changed: it was installed anew, or another machine answers at its "
       "address",
       "make sure that it is spark-2, then forget the old key (ssh-keygen -R) and accept the new "
       "one"},
      {"spark-2 (10.0.0.2): the host key is not known: a",
       "the host key of spark-2 is not known here",
       "compare it with the one that spark-2 shows, then accept it once by hand"},
      {"/k:3: spark-2 (10.0.0.2): the host key is revoked: a",
       "spark-2 shows a host key that is revoked here", "give spark-2 a new host key"}};
  for (const AccessCase& one : cases) {
    Sample sample = OnSwitch(3);
    sample.Lose(2);
    sample.facts.unreachable.at("spark-2").message = one.why;
    const auto findings = ListFindings(sample, PassedChecks(sample));
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].measured, one.why);
    EXPECT_EQ(findings[0].cause, one.cause);
    EXPECT_EQ(findings[0].next_step, one.next);
  }
}

}  // namespace
}  // namespace reconciler
