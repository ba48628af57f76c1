#include "reconciler/cli/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <ostream>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "reconciler/cli/file_output.h"
#include "reconciler/transport/posix.h"
#include "reconciler/transport/text_file.h"
#include "tests/support/temporary_folder.h"

namespace reconciler::cli {
namespace {

constexpr const char* kNoRoom = ": cannot be written: File too large\n";

// While one lives, a file of this process cannot become larger: a write is cut off there, and the
// next one fails.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : action_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, action_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_ = {};
  sighandler_t action_;
};

// While one lives, a signal interrupts this thread's system calls every millisecond.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // without SA_RESTART
    sigaction(SIGALRM, &action, &before_);
    const itimerval each{.it_interval = {.tv_sec = 0, .tv_usec = 1000},
                         .it_value = {.tv_sec = 0, .tv_usec = 1000}};
    setitimer(ITIMER_REAL, &each, nullptr);
  }
  ~Interruptions() {
    const itimerval none{};
    setitimer(ITIMER_REAL, &none, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

 private:
  struct sigaction before_ {};
};

std::string ReadSlowly(int fd) {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

class Files : public testing::Test {
 protected:
  std::string Path(const std::string& name = "file") const { return folder_.Path() / name; }
  void Put(const std::string& text) const { std::ofstream(Path()) << text; }
  static std::string Read(const std::string& path) { return ReadTextFile(path).value_or("none"); }
  static mode_t Mode(const std::string& path) {
    struct stat found {};
    return stat(path.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
  }
  std::size_t Count() const {
    const std::filesystem::directory_iterator files(folder_.Path());
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

  test::TemporaryFolder folder_;
  const std::string long_ = std::string(5000, 'x');
};

TEST_F(Files, AWriteThatSignalsCutIntoPiecesIsWholeInTheEnd) {
  auto pipe = MakePipe();
  ASSERT_TRUE(pipe);
  std::string text;
  for (int i = 0; i < 60000; ++i) text += std::to_string(i) + "\n";
  std::string arrived;
  std::thread reader([&] { arrived = ReadSlowly(pipe->read.Get()); });
  {
    const Interruptions interruptions;
    EXPECT_EQ(WriteAll(pipe->write.Get(), text), 0);
  }
  pipe->write.Reset();
  reader.join();
  EXPECT_EQ(arrived.size(), text.size());
  EXPECT_TRUE(arrived == text);
}

TEST_F(Files, AShortWriteIsFollowedByTheReasonOfTheNextOne) {
  Put("");
  const FileLimit limit(3000);
  const UniqueFd fd(open(Path().c_str(), O_WRONLY));
  EXPECT_EQ(WriteAll(fd.Get(), long_), EFBIG);
  EXPECT_EQ(std::filesystem::file_size(Path()), 3000u);
}

TEST_F(Files, AFullDiskIsTheReason) {
  const UniqueFd full(open("/dev/full", O_WRONLY));
  EXPECT_EQ(WriteAll(full.Get(), "x"), ENOSPC);
  EXPECT_EQ(WriteAll(full.Get(), ""), 0);
  FileOutput output(full.Get());
  EXPECT_EQ(output.sputn("x", 1), 1);
  EXPECT_EQ(output.Flush(), ENOSPC);
  const auto written = WritePrivateFile("/dev/full", "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(FormatError(written.error()),
            "/dev/full: cannot be written: No space left on device\n");
}

TEST_F(Files, APrivateFileIsItsOwnersAlsoWhenItWasThere) {
  Put(long_);
  chmod(Path().c_str(), 0644);
  ASSERT_TRUE(WritePrivateFile(Path(), "plan\n"));
  EXPECT_EQ(Read(Path()), "plan\n");
  EXPECT_EQ(Mode(Path()), 0600u);
}

TEST_F(Files, APrivateFileThatDoesNotFitIsAnError) {
  const FileLimit limit(3000);
  const auto written = WritePrivateFile(Path(), long_);
  ASSERT_FALSE(written);
  EXPECT_EQ(FormatError(written.error()), Path() + kNoRoom);
}

TEST_F(Files, AResultThatDoesNotFitLeavesTheOldOne) {
  Put("old\n");
  const FileLimit limit(3000);
  for (const auto write : {WritePrivateFile, WriteResultFile}) {
    const auto written = write(Path(), long_);
    ASSERT_FALSE(written);
    EXPECT_EQ(FormatError(written.error()), Path() + kNoRoom);
    EXPECT_EQ(Read(Path()), "old\n");
    EXPECT_EQ(Count(), 1u);
  }
}

TEST_F(Files, AResultKeepsTheModeOfTheOldOneAndALinkToIt) {
  Put(long_);
  chmod(Path().c_str(), 0640);
  std::filesystem::create_symlink(Path(), Path("link"));
  ASSERT_TRUE(WriteResultFile(Path("link"), "new\n"));
  EXPECT_EQ(Read(Path()), "new\n");
  EXPECT_EQ(Mode(Path()), 0640u);
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_EQ(Count(), 2u);
}

TEST_F(Files, AResultGoesWhereALinkLeadsThoughNothingIsThere) {
  std::filesystem::create_symlink(Path(), Path("link"));
  ASSERT_TRUE(WriteResultFile(Path("link"), "new\n"));
  EXPECT_EQ(Read(Path()), "new\n");
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
}

TEST_F(Files, ANewResultHasTheModeThatTheUmaskLeaves) {
  const mode_t before = umask(0027);
  const auto written = WriteResultFile(Path(), "new\n");
  umask(before);
  ASSERT_TRUE(written);
  EXPECT_EQ(Mode(Path()), 0640u);
}

// Its name leaves no room for that of a file beside it.
TEST_F(Files, AResultIsOverwrittenWhereNoFileCanStandBesideIt) {
  const std::string path = Path(std::string(255, 'x'));
  for (const std::string& text : {long_, std::string("new\n")}) {
    ASSERT_TRUE(WriteResultFile(path, text));
    EXPECT_EQ(Read(path), text);
  }
  ASSERT_TRUE(WritePrivateFile(path, "plan\n"));
  EXPECT_EQ(Read(path), "plan\n");
  EXPECT_EQ(Mode(path), 0600u);
}

TEST_F(Files, APipeStaysAPipe) {
  ASSERT_EQ(mkfifo(Path().c_str(), 0644), 0);
  const UniqueFd reader(open(Path().c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(reader.Open());
  ASSERT_TRUE(WriteResultFile(Path(), "one\n"));
  ASSERT_TRUE(PublishFile(Path(), "two\n"));
  char read_text[16] = {};
  EXPECT_EQ(read(reader.Get(), read_text, sizeof read_text), 8);
  EXPECT_STREQ(read_text, "one\ntwo\n");
  EXPECT_TRUE(std::filesystem::is_fifo(Path()));
}

// What stdout goes to has a reader that has it open.
TEST_F(Files, StdoutIsWrittenWhereItIsThoughItGoesToAFile) {
  for (const auto write : {WritePrivateFile, WriteResultFile, PublishFile}) {
    testing::internal::CaptureStdout();
    const auto written = write("/dev/stdout", "new\n");
    const std::string place = std::filesystem::read_symlink("/proc/self/fd/1");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "new\n");
    EXPECT_TRUE(written);
    EXPECT_FALSE(place.ends_with(" (deleted)")) << place;
  }
}

std::string Explain(const std::vector<OutputFile>& outputs, const std::vector<InputFile>& inputs) {
  const auto checked = CheckOutputs(outputs, inputs);
  return checked ? "" : FormatError(checked.error());
}

TEST_F(Files, AnOutputIsNoFileThatIsRead) {
  Put("manifest\n");
  std::filesystem::create_symlink(Path(), Path("link"));
  std::filesystem::create_hard_link(Path(), Path("hard"));
  for (const std::string& path : {Path(), Path("./file"), Path("link"), Path("hard")}) {
    EXPECT_EQ(Explain({{"--junit", ""}, {"--out", path}}, {{Path(), "manifest"}}),
              path + ": is the manifest that is read\n  hint: name another file with --out\n");
  }
  EXPECT_EQ(Explain({{"--out", Path("other")}}, {{Path(), "manifest"}}), "");
  EXPECT_EQ(Explain({{"--out", Path("other")}}, {{Path("none"), "manifest"}, {"", "plan"}}), "");
}

TEST_F(Files, TwoOutputsAreTwoFiles) {
  const auto explain = [&](const std::string& one, const std::string& other) {
    return Explain({{"--events", one}, {"--log-file", other}}, {});
  };
  const std::string hint =
      ": wanted a file for each of --events and --log-file\n"
      "  hint: name another file with one of them\n";
  EXPECT_EQ(explain(Path(), Path("./file")), Path() + hint);  // neither is there yet
  Put("");
  EXPECT_EQ(explain(Path(), Path("./file")), Path() + hint);
  EXPECT_EQ(explain(Path(), Path("other")), "");
  EXPECT_EQ(explain("/dev/null", "/dev/null"), "");
  EXPECT_EQ(explain("", ""), "");
}

TEST_F(Files, AnOutputThatCannotBeWrittenIsFoundBefore) {
  EXPECT_EQ(Explain({{"--out", Path("none/file")}}, {}),
            Path("none/file") + ": cannot be written: No such file or directory\n");
  EXPECT_EQ(Explain({{"--out", Path("a\nb/file"), /*replaced=*/true}}, {}),
            Path("a\\x0ab/file") + ": cannot be written: No such file or directory\n");
}

TEST_F(Files, AnEditOfATextThatWasChangedMeanwhileIsNotWritten) {
  Put("read\n");
  ASSERT_TRUE(ReplaceUnchanged(Path(), "read\n", "edited\n"));
  EXPECT_EQ(Read(Path()), "edited\n");
  const auto replaced = ReplaceUnchanged(Path(), "read\n", "other edit\n");
  ASSERT_FALSE(replaced);
  EXPECT_EQ(FormatError(replaced.error()),
            Path() + ": was changed meanwhile\n  hint: run the command again\n");
  EXPECT_EQ(Read(Path()), "edited\n");
}

TEST_F(Files, ALockOfAFolderWaitsForTheOneBefore) {
  std::optional<FolderLock> first(Path());
  std::atomic<bool> holds = false;
  std::thread other([&] {
    const FolderLock second(Path("other"));
    holds = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(holds);
  first.reset();
  other.join();
  EXPECT_TRUE(holds);
}

// Runs `action` once, when something was said and flushed.
class FirstWords : public std::stringbuf {
 public:
  explicit FirstWords(std::function<void()> action) : action_(std::move(action)) {}

 protected:
  int sync() override {
    if (const auto action = std::exchange(action_, nullptr)) action();
    return 0;
  }

 private:
  std::function<void()> action_;
};

TEST_F(Files, AWaitForALockOfAFolderIsSaidOnceWithTheFolderAndTheProcess) {
  std::optional<FolderLock> first(Path());
  std::thread release;
  FirstWords words([&] {
    release = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));  // the lock is tried each 100
      first.reset();
    });
  });
  std::ostream notes(&words);
  const FolderLock second(Path("other"), notes, std::chrono::milliseconds(0));
  ASSERT_TRUE(release.joinable());
  release.join();
  const std::string said = "waiting for another edit of a file in " +
                           std::filesystem::canonical(folder_.Path()).string();
  // Of some file systems /proc/locks has another number than stat.
  if (words.str() != said + "\n") {
    EXPECT_EQ(words.str(), fmt::format("{} (process {})\n", said, getpid()));
  }
}

TEST_F(Files, AShortWaitForALockOfAFolderIsNotSaid) {
  std::optional<FolderLock> first(Path());
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    first.reset();
  });
  std::ostringstream notes;
  const FolderLock second(Path("other"), notes, std::chrono::hours(1));
  release.join();
  EXPECT_EQ(notes.str(), "");
}

TEST(FindLockHolder, IsTheProcessWithAFlockOfTheFile) {
  const std::string locks =
      "1: POSIX  ADVISORY  WRITE 11 fd:01:42 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 12 fd:01:43 0 EOF\n"
      "3: FLOCK  ADVISORY  WRITE 13 fd:01:42 0 EOF\n"
      "3: -> FLOCK  ADVISORY  WRITE 14 fd:01:42 0 EOF\n"
      "4: FLOCK  ADVISORY  WRITE 15 00:2f:7 0 EOF\n"
      "5: FLOCK\n";
  EXPECT_EQ(FindLockHolder(locks, makedev(0xfd, 1), 42), 13);
  EXPECT_EQ(FindLockHolder(locks, makedev(0xfd, 1), 43), 12);
  EXPECT_EQ(FindLockHolder(locks, makedev(0, 0x2f), 7), 15);
  EXPECT_EQ(FindLockHolder(locks, makedev(0xfd, 2), 42), 0);
  EXPECT_EQ(FindLockHolder("", makedev(0, 0), 0), 0);
}

TEST_F(Files, ANewFileIsWrittenOnce) {
  ASSERT_TRUE(WriteNewFile(Path(), long_));
  EXPECT_EQ(Read(Path()), long_);
  const auto written = WriteNewFile(Path(), "other");
  ASSERT_FALSE(written);
  EXPECT_EQ(FormatError(written.error()),
            Path() +
                ": cannot be written: File exists\n"
                "  hint: name another file, or '-' to print the manifest\n");
  EXPECT_EQ(Read(Path()), long_);
}

TEST_F(Files, ANewFileThatDoesNotFitIsRemoved) {
  const FileLimit limit(3000);
  const auto written = WriteNewFile(Path(), long_);
  ASSERT_FALSE(written);
  EXPECT_EQ(FormatError(written.error()), Path() + kNoRoom);
  EXPECT_EQ(Count(), 0u);
}

TEST_F(Files, AReplacedFileKeepsItsModeAndALinkToItStays) {
  Put("old\n");
  chmod(Path().c_str(), 0640);
  std::filesystem::create_symlink(Path(), Path("link"));
  ASSERT_TRUE(ReplaceFile(Path("link"), "new\n"));
  EXPECT_EQ(Read(Path()), "new\n");
  EXPECT_EQ(Mode(Path()), 0640u);
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_EQ(Count(), 2u);
}

TEST_F(Files, AReplacementThatDoesNotFitLeavesTheOldFile) {
  Put("old\n");
  const FileLimit limit(3000);
  const auto replaced = ReplaceFile(Path(), long_);
  ASSERT_FALSE(replaced);
  EXPECT_EQ(FormatError(replaced.error()), Path() + kNoRoom);
  EXPECT_EQ(Read(Path()), "old\n");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(Files, APublishedFileIsReadByEveryoneAndTakesThePlaceOfTheOldOneAtOnce) {
  ASSERT_TRUE(PublishFile(Path(), "old\n"));
  EXPECT_EQ(Mode(Path()), 0644u);
  std::ifstream reader(Path());
  ASSERT_TRUE(PublishFile(Path(), "new\n"));
  std::string read;
  std::getline(reader, read);
  EXPECT_EQ(read, "old");  // whoever began to read the old file reads it to its end
  EXPECT_EQ(Read(Path()), "new\n");
  EXPECT_EQ(Mode(Path()), 0644u);
  EXPECT_EQ(Count(), 1u);
}

TEST_F(Files, AFileThatDoesNotFitIsNotPublished) {
  const FileLimit limit(3000);
  const auto published = PublishFile(Path(), long_);
  ASSERT_FALSE(published);
  EXPECT_EQ(FormatError(published.error()), Path() + kNoRoom);
  EXPECT_EQ(Count(), 0u);
}

TEST_F(Files, AFileInNoFolderIsNotPublished) {
  const auto published = PublishFile(Path("none/file"), "");
  ASSERT_FALSE(published);
  EXPECT_EQ(FormatError(published.error()),
            Path("none/file") + ": cannot be written: No such file or directory\n");
}

TEST_F(Files, ADeviceStaysADevice) {
  ASSERT_TRUE(PublishFile("/dev/null", "x"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(Files, AFileThatIsNotThereIsNotReplaced) {
  const auto replaced = ReplaceFile(Path("none"), "");
  ASSERT_FALSE(replaced);
  EXPECT_EQ(FormatError(replaced.error()),
            Path("none") + ": cannot be written: No such file or directory\n");
}

}  // namespace
}  // namespace reconciler::cli
