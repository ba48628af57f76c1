#include <gmock/gmock.h>

#include "plugins/qos/read_qos.sh.h"
#include "reconciler/base/text.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins::qos {
namespace {

using testing::ElementsAre;

class QosScript : public reconciler::test::ScriptTree {
 protected:
  QosScript() { PutProgram("systemctl", "echo disabled\n"); }
  std::vector<std::string> Lines() const {
    return SplitLines(Run({"sh", "-c", std::string(kReadQosSh), "sh", "a.service", "eth0"}).out);
  }
};

TEST_F(QosScript, EachSettingIsShownWithWhetherItCouldBeRead) {
  PutProgram("dcb",
             "case \"$*\" in 'pfc show dev eth0 prio-pfc') echo 'prio-pfc 0:off 1:on ' ;;\n"
             "*) echo 'Operation not supported' >&2; exit 1 ;; esac\n");
  PutProgram("cma_roce_tos", "[ \"$*\" = '-d mlx5_0' ] && echo 106\n");
  PutFolder("/sys/class/net/eth0/device/infiniband/mlx5_0");
  EXPECT_THAT(Lines(), ElementsAre("unit disabled", "dcb yes", "cma_roce_tos yes",
                                   "pfc eth0 ok prio-pfc 0:off 1:on ",
                                   "dscp eth0 failed Operation not supported", "hca eth0 ok mlx5_0",
                                   "tos eth0 ok 106"));
}

TEST_F(QosScript, APortWithoutAnRdmaDeviceHasNoToS) {
  PutProgram("dcb", "exit 0\n");
  PutProgram("cma_roce_tos", "echo BAD\n");
  EXPECT_THAT(Lines(),
              ElementsAre("unit disabled", "dcb yes", "cma_roce_tos yes", "pfc eth0 ok ",
                          "dscp eth0 ok ", "tos eth0 failed the interface has no RDMA device"));
}

}  // namespace
}  // namespace reconciler::plugins::qos
